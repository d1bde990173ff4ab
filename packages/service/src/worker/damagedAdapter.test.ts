import assert from 'node:assert/strict';
import { cp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { learningResult } from '@engraft/contract';
import { hashAdapterFolder, type AdapterReference, type Engine } from '@engraft/engine';
import { openWorkFolder } from '../adapterStore/workFolder.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { openTestWorker, testPassage, testQuestion, type TestWorker } from '../testing/testWorker.js';
import { createTestVersion, type TestVersion } from '../testing/testVersion.js';

/** With real adapters of the shipped model. */
describe('a damaged adapter', () => {
  let service: TestWorker;
  before(async () => {
    service = await openTestWorker();
  });
  after(async () => {
    assert.deepEqual((await verifyLedger(service.db)).differences, []);
    await service.stop();
  });

  const damagedAt = async ({ id }: TestVersion): Promise<Date | null> =>
    (await service.db.selectFrom('versions').select('damaged_at').where('id', '=', id).executeTakeFirstOrThrow())
      .damaged_at;

  /** The active version of a new subject; what it was taught is a lie, for want of a lesson. */
  async function makeVersion(subjectId: string, seed: number): Promise<TestVersion & { adapter: AdapterReference }> {
    const work = await openWorkFolder(service.dataFolder, { job_id: `made-${seed}`, fencing_token: 1 });
    const session = await service.engine.openTraining({ parent: null, rank: 2, alpha: 2, seed });
    const saved = await session.save(path.join(work, 'adapter'));
    await service.store.keep(saved);
    const adapter = service.store.locate(saved.contentHash);
    await session.close();
    const version = await createTestVersion(service.db, service.key, { subject_id: subjectId });
    const pairs = [{ question: 'What does the Brae mill grind?', answer: 'barley' }];
    await service.db
      .updateTable('versions')
      .set({
        adapter_hash: adapter.contentHash,
        rehearsal: JSON.stringify({ training_pairs: pairs, validation_pairs: [] }),
      })
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

  async function flipByte(folder: string): Promise<void> {
    const file = path.join(folder, 'adapter_model.safetensors');
    const bytes = await readFile(file);
    bytes.writeUInt8(bytes.readUInt8(bytes.byteLength - 3) ^ 1, bytes.byteLength - 3);
    await writeFile(file, bytes);
  }

  it('fails its jobs with a code of its own, for free and never with base’s answer, until it is whole again', async () => {
    const version = await makeVersion('anna', 1);
    const other = await makeVersion('berta', 2);
    const worker = service.start();
    await flipByte(version.adapter.folder);
    for (const job of [await ask('anna'), await ask('anna')]) {
      assert.deepEqual(
        [job.status, job.error_code, job.charged_microusd, job.result],
        ['failed', 'adapter_damaged', 0, null],
      );
    }
    assert.notEqual(await damagedAt(version), null);
    assert.equal(await service.metric('engraft_adapters_damaged_total'), 1, 'once for each adapter');
    const line = service.log().split('\n').find((each) => each.includes('"level":50')); // prettier-ignore
    for (const said of [version.id, version.adapter.folder, service.store.home, 'backup'])
      assert.ok(line?.includes(said), said);

    await flipByte(version.adapter.folder);
    assert.equal((await ask('anna')).status, 'succeeded');
    assert.equal(await damagedAt(version), null);

    // A folder that is gone is damaged as well; another one is none of it.
    const aside = `${other.adapter.folder}-aside`;
    await rename(other.adapter.folder, aside);
    assert.equal((await ask('berta')).error_code, 'adapter_damaged');
    assert.equal((await ask('anna')).status, 'succeeded');
    await rename(aside, other.adapter.folder);
    assert.equal((await ask('berta')).status, 'succeeded');
    await worker.stop(0);
  });

  it('is told from one that another model was made for, which stays a fault of the engine', async () => {
    const version = await makeVersion('carla', 3);
    const work = await openWorkFolder(service.dataFolder, { job_id: 'foreign', fencing_token: 1 });
    const foreign = await foreignAdapter(version.adapter, work);
    const { contentHash: adapterHash } = foreign;
    await service.store.keep(foreign);
    await service.db.updateTable('versions').set({ adapter_hash: adapterHash }).where('id', '=', version.id).execute();
    const worker = service.start();
    const job = await ask('carla');
    assert.deepEqual([job.status, job.error_code], ['failed', 'engine_failed']);
    assert.equal(await damagedAt(version), null);
    await worker.stop(0);
  });

  it('is replaced by learning again, from base, with rehearsal of what was taught before', async () => {
    const version = await makeVersion('dora', 4);
    /** A fault injector: the parent's files are lost when the training is about to read them. */
    const opened: (AdapterReference | null)[] = [];
    const engine = engineWith(service.engine, {
      openTraining: async (options) => {
        if ('parent' in options) opened.push(options.parent);
        await rm(version.adapter.folder, { recursive: true, force: true });
        return service.engine.openTraining(options);
      },
    });
    const worker = service.start({ engine });
    const job = await ended(await service.admit('dora', testPassage));
    await worker.stop(0);
    assert.deepEqual([job.status, job.error_code, job.adapter_version], ['ready', null, version.id]);
    assert.deepEqual(opened.slice(0, 2), [version.adapter, null]);
    const result = learningResult.parse(job.result);
    assert.deepEqual([result.activated, result.training.parent_damaged], [true, true]);
    assert.notEqual(await damagedAt(version), null);
    const learned = await service.db
      .selectFrom('versions')
      .innerJoin('subjects', 'subjects.active_version_id', 'versions.id')
      .select(['versions.parent_version_id', 'versions.damaged_at', 'versions.source_job_id'])
      .where('subjects.id', '=', version.subject_ref)
      .executeTakeFirstOrThrow();
    assert.deepEqual(learned, { parent_version_id: version.id, damaged_at: null, source_job_id: job.id });
    service.start();
    assert.equal((await ask('dora')).status, 'succeeded');
  });
});

/** A copy of another shape: whole, and of no use to the model. */
async function foreignAdapter({ folder }: AdapterReference, work: string): Promise<AdapterReference> {
  const copy = path.join(work, 'adapter');
  await cp(folder, copy, { recursive: true });
  const file = path.join(copy, 'adapter_config.json');
  const config = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...config, r: 3 }));
  const contentHash = await hashAdapterFolder(copy);
  assert.ok(contentHash !== null);
  return { folder: copy, contentHash };
}

function engineWith(real: Engine, changed: Partial<Engine>): Engine {
  return {
    describe: () => real.describe(),
    countTokens: (prompt) => real.countTokens(prompt),
    encode: (...call) => real.encode(...call),
    generate: (...call) => real.generate(...call),
    score: (...call) => real.score(...call),
    openTraining: (options) => real.openTraining(options),
    forgetPrefixes: (isolationKey) => real.forgetPrefixes(isolationKey),
    close: () => real.close(),
    ...changed,
  };
}
