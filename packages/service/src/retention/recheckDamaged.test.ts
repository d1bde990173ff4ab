import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AdapterStoreMissing } from '../adapterStore/adapterStoreMissing.js';
import { AdapterStoreUnavailable } from '../adapterStore/adapterStoreUnavailable.js';
import { startStubBucket, type StubBucket } from '../testing/stubBucket.js';
import { keepTestAdapter } from '../testing/testAdapter.js';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestBucketStore, type TestBucketStore } from '../testing/testBucket.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion } from '../testing/testVersion.js';
import { markAdapterDamaged } from '../versions/adapterDamage.js';
import { forEachIndependently } from './independently.js';
import { recheckDamaged } from './recheckDamaged.js';

describe('an adapter that the bucket has lost', () => {
  let database: TestDatabase;
  let stub: StubBucket;
  let store: TestBucketStore;
  before(async () => {
    database = await openTestDatabase();
    stub = await startStubBucket();
    store = await openTestBucketStore(stub.environment);
  });
  after(async () => {
    await store.end();
    await stub.stop();
    await database.close();
  });

  it('stays marked as damaged while only this machine has a copy', async () => {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const adapterHash = await keepTestAdapter(store, 'lost');
    await createTestVersion(database.db, key, { adapter_hash: adapterHash });
    await markAdapterDamaged(database.db, adapterHash);
    const objects = [...stub.objects].filter(([name]) => name.includes('/sha256-'));
    assert.equal(objects.length, 2);
    for (const [name] of objects) stub.objects.delete(name);
    assert.equal(await store.isIntact(adapterHash), true, 'the copy is');
    assert.equal(await recheckDamaged(database.db, store), 0);
    for (const [name, content] of objects) stub.objects.set(name, content);
    assert.equal(await recheckDamaged(database.db, store), 1);
    assert.equal(await recheckDamaged(database.db, store), 0);
  });
});

describe('a duty of retention', () => {
  const tried = async (error: Error): Promise<readonly [string[], unknown]> => {
    const items: string[] = [];
    const work = (item: string): Promise<boolean> => {
      items.push(item);
      return Promise.reject(error);
    };
    const failure: unknown = await forEachIndependently(['one', 'two'], work).catch((thrown: unknown) => thrown);
    return [items, failure];
  };

  it('ends at once where the store of adapters is away, for the others would wait as long', async () => {
    for (const error of [new AdapterStoreUnavailable('away'), new AdapterStoreMissing('not mounted')]) {
      assert.deepEqual(await tried(error), [['one'], error]);
    }
  });

  it('goes on with the others after a failure of one', async () => {
    for (const error of [new Error('of one'), new AdapterStoreUnavailable('under legal hold', true)]) {
      const [items, failure] = await tried(error);
      assert.deepEqual(items, ['one', 'two']);
      assert.ok(failure instanceof AggregateError && failure.message === '2 of 2 failed');
    }
  });
});
