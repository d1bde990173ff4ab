import assert from 'node:assert/strict';
import { appendFile, cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { learningResult } from '@engraft/contract';
import { type AdapterReference, hashAdapterFolder } from '@engraft/engine';
import { pino } from 'pino';
import { openWorkFolder } from '../adapterStore/workFolder.js';
import { readConfig } from '../config/config.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { loadEngine, type LoadedEngine } from '../startup/model.js';
import { openTestWorker, testPassage, testQuestion, type TestWorker } from '../testing/testWorker.js';
import { createTestVersion, type TestVersion } from '../testing/testVersion.js';
import { recordBaseModel } from '../versions/baseModel.js';
import { adoptBaseModel } from './adoptBaseModel.js';

/** With the shipped model and another checkpoint of the same shape, on which its adapters would load without a word. */
describe('a change of the base model', () => {
  let service: TestWorker;
  let other: LoadedEngine;
  let hash: string;
  let otherHash: string;
  let made = 0;
  before(async () => {
    service = await openTestWorker();
    const modelFolder = path.join(service.dataFolder, 'other-model');
    const config = readConfig({ data: service.dataFolder }, {});
    await cp(config.modelFolder, modelFolder, { recursive: true });
    await appendFile(path.join(modelFolder, 'config.json'), '\n');
    other = await loadEngine({ ...config, modelFolder }, pino({ level: 'silent' }));
    ({ contentHash: hash } = await service.engine.describe());
    ({ contentHash: otherHash } = await other.engine.describe());
  });
  after(async () => {
    assert.deepEqual((await verifyLedger(service.db)).differences, []);
    await other.engine.close();
    await service.stop();
  });

  const onOther = () => ({ engine: other.engine });
  const modelOf = async ({ id }: TestVersion) =>
    (await service.db.selectFrom('versions').select('base_model_hash').where('id', '=', id).executeTakeFirstOrThrow())
      .base_model_hash;

  /** The active version of a new subject, as an earlier release left it: nothing says what it was trained on. */
  async function makeVersion(subjectId: string): Promise<TestVersion & { adapter: AdapterReference }> {
    made += 1;
    const work = await openWorkFolder(service.dataFolder, { job_id: `made-${made}`, fencing_token: 1 });
    const session = await service.engine.openTraining({ parent: null, rank: 2, alpha: 2, seed: made });
    const saved = await session.save(path.join(work, 'adapter'));
    await service.store.keep(saved);
    const adapter = service.store.locate(saved.contentHash);
    await session.close();
    const version = await createTestVersion(service.db, service.key, { subject_id: subjectId });
    const pairs = [{ question: 'What does the Brae mill grind?', answer: 'barley' }];
    const rehearsal = JSON.stringify({ training_pairs: pairs, validation_pairs: [] });
    const { contentHash: adapterHash } = adapter;
    await service.db
      .updateTable('versions')
      .set({ adapter_hash: adapterHash, rehearsal })
      .where('id', '=', version.id)
      .execute();
    return { ...version, adapter };
  }

  async function ended(jobId: string) {
    return service.until(async () => {
      const job = await service.read(jobId);
      return job.settled ? job : null;
    });
  }
  const ask = async (subjectId: string) => ended(await service.admit(subjectId, testQuestion));
  const refusal = (job: Awaited<ReturnType<typeof ask>>) => [
    job.status,
    job.error_code,
    job.charged_microusd,
    job.result,
  ];
  const refused = ['failed', 'base_model_changed', 0, null];

  it('never serves a version on the wrong weights: its jobs fail, for free, until its model is back', async () => {
    assert.notEqual(hash, otherHash);
    const version = await makeVersion('anna');
    const unrecorded = service.start(onOther());
    assert.deepEqual(refusal(await ask('anna')), refused);
    await unrecorded.stop(0);
    assert.equal(await modelOf(version), hash, 'the adapter itself tells');
    const recorded = service.start(onOther());
    assert.deepEqual(refusal(await ask('anna')), refused);
    assert.equal((await ask('nobody')).status, 'succeeded', 'base is whatever the worker has');
    await recorded.stop(0);
    const back = service.start();
    assert.equal((await ask('anna')).status, 'succeeded');
    await back.stop(0);
  });

  it('refuses what nothing is known of, and leaves what is damaged to be found so', async () => {
    const version = await makeVersion('berta');
    const silent = await anonymous(version.adapter, path.join(service.dataFolder, 'anonymous'));
    const { contentHash: adapterHash } = silent;
    await service.store.keep(silent);
    await service.db.updateTable('versions').set({ adapter_hash: adapterHash }).where('id', '=', version.id).execute();
    const worker = service.start();
    assert.deepEqual(refusal(await ask('berta')), refused);
    await writeFile(path.join(service.store.locate(adapterHash).folder, 'adapter_config.json'), '{}');
    assert.equal((await ask('berta')).error_code, 'adapter_damaged');
    assert.equal(await modelOf(version), null);
    await worker.stop(0);
  });

  it('is recorded at a start, with what the versions of earlier releases were trained on', async () => {
    const version = await makeVersion('carla');
    const worker = { db: service.db, store: service.store };
    let log = '';
    const logger = pino({ level: 'warn' }, { write: (line) => void (log += line) });
    await adoptBaseModel({ ...worker, content_hash: hash, logger });
    assert.equal(await modelOf(version), hash);
    assert.doesNotMatch(log, /another/);
    await adoptBaseModel({ ...worker, content_hash: otherHash, logger });
    assert.match(log, /the base model has changed/);
    assert.match(log, /versions were trained on another base model: they are refused with base_model_changed/);
    await assert.rejects(service.admit('carla', testQuestion), /base_model_changed/);
    await recordBaseModel(service.db, hash);
  });

  it('ends a learning job that was begun before, for free, as half of its work is of no use', async () => {
    await makeVersion('dora');
    const jobId = await service.admit('dora', testPassage);
    await service.db.updateTable('jobs').set({ base_model_hash: hash }).where('id', '=', jobId).execute();
    const worker = service.start(onOther());
    assert.deepEqual(refusal(await ended(jobId)), refused);
    await worker.stop(0);
  });

  it('is no end of learning: it starts from the base model of now and rehearses the earlier passages', async () => {
    const version = await makeVersion('emma');
    await adoptBaseModel({
      db: service.db,
      store: service.store,
      content_hash: otherHash,
      logger: pino({ level: 'silent' }),
    });
    const worker = service.start(onOther());
    const job = await ended(await service.admit('emma', testPassage));
    assert.deepEqual([job.status, job.error_code, job.adapter_version], ['ready', null, version.id]);
    const { activated, training, validation } = learningResult.parse(job.result);
    assert.deepEqual([activated, training.parent_base_model_changed, training.parent_damaged], [true, true, undefined]);
    assert.ok(validation.base_passed_count < validation.passed_count);
    const learned = await service.db
      .selectFrom('versions')
      .innerJoin('subjects', 'subjects.active_version_id', 'versions.id')
      .select(['versions.parent_version_id', 'versions.base_model_hash', 'versions.source_job_id'])
      .where('subjects.id', '=', version.subject_ref)
      .executeTakeFirstOrThrow();
    assert.deepEqual(learned, { parent_version_id: version.id, base_model_hash: otherHash, source_job_id: job.id });
    assert.equal((await ask('emma')).status, 'succeeded');
    await worker.stop(0);
  });
});

/** A copy that another tool might have made, which names its base model by the name of a repository. */
async function anonymous({ folder }: AdapterReference, copy: string): Promise<AdapterReference> {
  await cp(folder, copy, { recursive: true });
  const file = path.join(copy, 'adapter_config.json');
  const config = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...config, base_model_name_or_path: 'org/name' }));
  const contentHash = await hashAdapterFolder(copy);
  assert.ok(contentHash !== null);
  return { folder: copy, contentHash };
}
