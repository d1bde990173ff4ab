import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { admitJob } from '../admission/admitJob.js';
import type { JobRequest } from '../jobs/jobRequest.js';
import { deleteUnneededFiles } from '../retention/deleteUnneededFiles.js';
import { dropCopies } from '../retention/dropCopies.js';
import { scriptedLearner } from '../testing/scriptedLearner.js';
import { noFault, startStubBucket, type StubBucket } from '../testing/stubBucket.js';
import { countUnits, createTestKey, createTestProject, plentyOfJobs, type TestKey } from '../testing/testApp.js';
import { openTestBucketStore, type TestBucketStore } from '../testing/testBucket.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { testPassage, testQuestion } from '../testing/testWorker.js';
import { createTestVersion } from '../testing/testVersion.js';
import { adoptBaseModel } from './adoptBaseModel.js';
import { startWorker, type Worker } from './worker.js';

const short = { firstMs: 50, longestMs: 50 };
const patienceMs = 60_000;

describe('a worker whose adapters are in a bucket', () => {
  let database: TestDatabase;
  let key: TestKey;
  let stub: StubBucket;
  let store: TestBucketStore;
  let workFolder: string;
  let worker: Worker;
  let logged: string[] = [];
  let admitted = 0;
  before(async () => {
    database = await openTestDatabase({ maxConnections: 8 });
    key = await createTestKey(database.db, await createTestProject(database.db));
    stub = await startStubBucket();
    store = await openTestBucketStore(stub.environment);
    workFolder = await mkdtemp(path.join(tmpdir(), 'engraft-away-'));
    const learner = scriptedLearner({
      slow: () => Promise.resolve(false),
      disk_full: () => Promise.resolve(false),
      elsewhere: null,
    });
    worker = startWorker({
      db: database.db,
      engine: learner.engine,
      method: () => Promise.resolve(learner.method),
      store,
      dataFolder: workFolder,
      logger: pino({ level: 'info' }, { write: (line) => void logged.push(line) }),
      pollMs: 10,
      storageWait: short,
      answerWait: short,
    });
  });
  afterEach(() => {
    stub.fault = noFault;
    logged = [];
  });
  after(async () => {
    await worker.stop(0);
    await store.end();
    await stub.stop();
    await database.close();
    await rm(workFolder, { recursive: true });
  });

  const admit = async (request: JobRequest, subjectId: string): Promise<string> => {
    admitted += 1;
    const outcome = await admitJob(
      { db: database.db, countTokens: countUnits, contextLength: 4_096, execution: 'on', open_jobs: plentyOfJobs },
      {
        key,
        tenant_id: null,
        subject_id: subjectId,
        adapter_version: undefined,
        endpoint: '/v1/test',
        idempotency_key: `away-${admitted}`,
        request,
      },
    );
    if (outcome.kind !== 'admitted') throw new Error(JSON.stringify(outcome));
    return outcome.job_id;
  };
  const read = (id: string) =>
    database.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
    const deadlineMs = performance.now() + patienceMs;
    while (!(await isSo())) {
      if (performance.now() > deadlineMs) throw new Error(`it did not come to this: ${logged.join('')}`);
      await sleep(20);
    }
  };
  const ended = async (id: string) => {
    await until(async () => (await read(id)).settled);
    return read(id);
  };
  const ask = (subjectId: string): Promise<string> =>
    admit({ ...testQuestion, messages: [{ role: 'user', content: 'Which is stone 1?' }] } as JobRequest, subjectId);
  const adapterOf = async (jobId: string): Promise<string> =>
    (
      await database.db
        .selectFrom('versions')
        .select('adapter_hash')
        .where('source_job_id', '=', jobId)
        .executeTakeFirstOrThrow()
    ).adapter_hash;

  it('learns once both files are in the bucket: a passage waits while they cannot be put there', async () => {
    stub.fault = ({ method }) => (method === 'PUT' ? 503 : null);
    const id = await admit(testPassage, 'anna');
    await until(
      () => logged.filter((line) => line.includes('the adapters cannot be reached: learning waits')).length > 1,
    );
    const waiting = await read(id);
    assert.deepEqual([waiting.settled, waiting.charged_microusd], [false, 0]);
    assert.equal((await database.db.selectFrom('versions').select('id').execute()).length, 0);
    assert.deepEqual([...stub.objects.keys()], ['of/tests/.engraft-adapters']);
    stub.fault = noFault;
    assert.equal((await ended(id)).status, 'ready');
    assert.equal(await store.has(await adapterOf(id)), true);
    assert.equal((await read(id)).attempts, 1, 'waiting was not held against it');
  });

  it('answers with the copy while the bucket is away, and without one not at all', async () => {
    const [version] = await database.db.selectFrom('versions').select('adapter_hash').execute();
    stub.fault = () => 'gone';
    const answered = await ended(await ask('anna'));
    assert.deepEqual([answered.status, (answered.result as { text: string }).text], ['succeeded', 'basalt']);
    assert.equal(await store.dropCopy(version?.adapter_hash ?? ''), true);
    const refused = await ended(await ask('anna'));
    assert.deepEqual(
      [refused.status, refused.error_code, refused.result, refused.charged_microusd],
      ['failed', 'adapter_unavailable', null, 0],
    );
    // Base needs no bucket.
    assert.equal((await ended(await ask('nobody'))).status, 'succeeded');
    stub.fault = noFault;
    assert.equal((await ended(await ask('anna'))).status, 'succeeded');
    const damaged = await database.db.selectFrom('versions').select('id').where('damaged_at', 'is not', null).execute();
    assert.deepEqual(damaged, [], 'a bucket that is away says nothing of what is in it');
  });

  it('says that an adapter is damaged where the bucket has other bytes, until they are right', async () => {
    const [version] = await database.db.selectFrom('versions').select('adapter_hash').execute();
    await store.dropCopy(version?.adapter_hash ?? '');
    const name = [...stub.objects.keys()].find((each) => each.endsWith('.safetensors')) ?? '';
    const right = stub.objects.get(name) ?? Buffer.alloc(0);
    stub.objects.set(name, Buffer.alloc(right.byteLength, 'x'));
    const refused = await ended(await ask('anna'));
    assert.deepEqual([refused.error_code, refused.charged_microusd], ['adapter_damaged', 0]);
    stub.objects.set(name, right);
    assert.equal((await ended(await ask('anna'))).status, 'succeeded');
    const [{ damaged_at } = { damaged_at: undefined }] = await database.db.selectFrom('versions').selectAll().execute();
    assert.equal(damaged_at, null);
  });

  it('deletes from the bucket, and its own copy, what no version needs any more', async () => {
    const content = 'Zelona is a bakery in Bruges. Zelona was started in 2011 by Tom Peck. Zelona has 12 employees.';
    const id = await admit({ ...testPassage, content } as JobRequest, 'berta');
    assert.equal((await ended(id)).status, 'ready');
    const hash = await adapterOf(id);
    const elsewhere = await openTestBucketStore(stub.environment);
    (await elsewhere.borrow(hash)).giveBack();
    await database.db
      .updateTable('versions')
      .set({ erased_at: new Date(), retention_ended_at: new Date(), retention_ended_by: 'operator' })
      .where('source_job_id', '=', id)
      .execute();
    stub.fault = ({ method }) => (method === 'DELETE' ? 503 : null);
    await assert.rejects(deleteUnneededFiles(database.db, store));
    assert.equal(await store.has(hash), true);
    stub.fault = noFault;
    assert.equal(await deleteUnneededFiles(database.db, store), 1);
    assert.deepEqual([await store.has(hash), store.listCopies().includes(hash)], [false, false]);
    assert.equal(await dropCopies(database.db, elsewhere), 1);
    assert.deepEqual(elsewhere.listCopies(), []);
    await elsewhere.end();
  });

  it('asks once, before the service listens, of what its adapters were trained on', async () => {
    for (const digit of ['1', '2']) {
      await createTestVersion(database.db, key, { subject_id: digit, adapter_hash: `sha256:${digit.repeat(64)}` });
    }
    const empty = await openTestBucketStore(stub.environment);
    stub.fault = () => 503;
    stub.requests.length = 0;
    const logger = pino({ level: 'warn' }, { write: (line) => void logged.push(line) });
    await adoptBaseModel({ db: database.db, store: empty, content_hash: 'sha256:0', logger });
    assert.equal(new Set(stub.requests.map((each) => each.key)).size, 1);
    assert.equal(logged.filter((line) => line.includes('the store of adapters cannot be reached')).length, 1);
    await empty.end();
  });
});
