import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { readConfig } from '../../config/config.js';
import { noFault, startStubBucket, type StubBucket } from '../../testing/stubBucket.js';
import { keepTestAdapter } from '../../testing/testAdapter.js';
import { createTestKey, createTestProject } from '../../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../../testing/testDatabase.js';
import { createTestVersion } from '../../testing/testVersion.js';
import { findAdapterStore, type StoreSettings } from '../findAdapterStore.js';
import { createStoreMetrics } from '../storeMetrics.js';

const mark = 'of/tests/.engraft-adapters';

describe('the bucket of a database', () => {
  let database: TestDatabase;
  let stub: StubBucket;
  let settings: StoreSettings;
  let logged: string[] = [];
  const registry = new Registry();
  const watch = {
    logger: pino({ level: 'info' }, { write: (line) => void logged.push(line) }),
    metrics: createStoreMetrics(registry),
  };
  before(async () => {
    database = await openTestDatabase();
    stub = await startStubBucket();
    Object.assign(process.env, stub.environment);
    const dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-found-'));
    settings = readConfig({ data: dataFolder }, stub.environment);
  });
  afterEach(() => {
    stub.fault = noFault;
    logged = [];
  });
  after(async () => {
    await database.close();
    await stub.stop();
    await rm(settings.dataFolder, { recursive: true });
  });

  const looksAtMark = (): number => {
    const looks = stub.requests.filter(({ method, key }) => method === 'HEAD' && key === mark).length;
    stub.requests.length = 0;
    return looks;
  };

  it('is marked for a new installation, and found again, with one look at its mark each time', async () => {
    await (await findAdapterStore(database.db, settings)).close();
    assert.deepEqual([...stub.objects.keys()], [mark]);
    assert.equal(looksAtMark(), 1);
    await (await findAdapterStore(database.db, settings)).close();
    assert.equal(looksAtMark(), 1);
    const store = await findAdapterStore(database.db, settings);
    assert.equal(await store.isPresent(), true);
    await store.close();
  });

  it('is that of a service while it is away, and is looked at before anything is kept', async () => {
    stub.objects.delete(mark);
    stub.fault = () => 503;
    await assert.rejects(findAdapterStore(database.db, settings), { name: 'AdapterStoreUnavailable' });
    const store = await findAdapterStore(database.db, settings, watch);
    assert.ok(logged.some((line) => line.includes('the bucket of adapters cannot be reached')));
    await assert.rejects(keepTestAdapter(store, 'too soon'), { name: 'AdapterStoreUnavailable' });
    stub.fault = noFault;
    looksAtMark();
    await keepTestAdapter(store, 'in time');
    assert.ok(stub.objects.has(mark));
    assert.equal(looksAtMark(), 1, 'the look that is due is enough');
    await keepTestAdapter(store, 'later');
    assert.equal(looksAtMark(), 1);
    await store.close();
  });

  it('is told from another one by its adapters', async () => {
    const store = await findAdapterStore(database.db, settings, watch);
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const adapterHash = await keepTestAdapter(store, 'of a version');
    await createTestVersion(database.db, key, { adapter_hash: adapterHash });
    const lent = await store.borrow(adapterHash);
    lent.giveBack();
    const metrics = await registry.metrics();
    assert.match(metrics, /^engraft_adapter_copies_asked_total\{outcome="hit"\} 1$/m);
    assert.match(metrics, /^engraft_adapter_copies_bytes \d\d+$/m);
    assert.match(metrics, /^engraft_adapter_copies_bytes_max 10000000000$/m);
    assert.match(metrics, /^engraft_adapter_bucket_requests_total\{operation="head",outcome="failed"\} [1-9]/m);
    assert.match(metrics, /^engraft_adapter_bucket_requests_total\{operation="put",outcome="done"\} [1-9]/m);
    await store.close();
    stub.objects.delete(mark);
    await (await findAdapterStore(database.db, settings, watch)).close();
    assert.ok(stub.objects.has(mark), 'it has the adapter');
    stub.objects.clear();
    for (const watched of [undefined, watch]) {
      await assert.rejects(findAdapterStore(database.db, settings, watched), {
        name: 'AdapterStoreMissing',
        message: /s3:\/\/adapters\/of\/tests\/ has none of them/,
      });
    }
    assert.equal(stub.objects.size, 0);
  });
});
