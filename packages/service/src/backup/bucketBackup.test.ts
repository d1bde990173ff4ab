import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../config/config.js';
import { DatabaseProxy } from '../testing/databaseProxy.js';
import { startStubBucket, type StubBucket } from '../testing/stubBucket.js';
import { openBackupSource, type BackupSource } from '../testing/testBackup.js';
import { openTestBucketStore } from '../testing/testBucket.js';
import { withEmptyDatabase } from '../testing/emptyDatabase.js';
import { restoreBackup } from './restoreBackup.js';

const mark = 'of/tests/.engraft-adapters';

describe('a backup whose adapters are in a bucket', () => {
  let source: BackupSource;
  let stub: StubBucket;
  before(async () => {
    source = await openBackupSource();
    stub = await startStubBucket();
    Object.assign(process.env, stub.environment);
  });
  after(async () => {
    await source.close();
    await stub.stop();
  });

  it('has them, and gives them to the bucket of another installation, which had none', async () => {
    const { adapter_hash } = await source.learn('weights of a version');
    const store = await openTestBucketStore(stub.environment);
    await store.keep(source.store.locate(adapter_hash));
    await source.store.remove(adapter_hash);
    const { file, adapters, missing_adapters } = await source.backUp({ store });
    assert.deepEqual([adapters, missing_adapters], [1, []]);

    const { adapterBucket } = readConfig({}, stub.environment);
    const restore = () =>
      withEmptyDatabase(source.database, (databaseUrl) =>
        restoreBackup({ file, dataFolder: source.newPath(), databaseUrl, adapterBucket }),
      );
    await assert.rejects(restore(), /has adapters already: a backup is restored into a bucket or prefix of its own/);
    assert.equal(stub.objects.size, 3);
    // Those of another installation, whose mark is lost.
    stub.objects.delete(mark);
    await assert.rejects(restore(), /has adapters already/);
    assert.equal(stub.objects.size, 2, 'and they stay');
    stub.objects.clear();
    await store.dropCopy(adapter_hash);
    const report = await restore();
    assert.deepEqual([report.adapters, report.missing_adapters], [1, []]);
    assert.equal(await store.isIntact(adapter_hash), true);
    assert.ok(stub.objects.has(mark));
    await store.end();

    stub.objects.clear();
    // The last adapter cannot be put: what came before is taken back.
    stub.fault = ({ method, key }) => (method === 'PUT' && key.endsWith('adapter_config.json') ? 403 : null);
    await assert.rejects(restore(), /AccessDenied/);
    assert.deepEqual([...stub.objects.keys()], []);

    stub.requests.length = 0;
    stub.fault = ({ method }) => (method === 'PUT' ? 403 : null);
    await assert.rejects(restore(), /AccessDenied/);
    assert.deepEqual(stub.requests.at(-1), { method: 'DELETE', key: mark }, 'it may have come');
    stub.fault = () => null;
  });

  it('leaves them where the database does not say whether it took the rest', async () => {
    const { adapter_hash } = await source.learn('weights of another version');
    const { file } = await source.backUp();
    const { adapterBucket } = readConfig({}, stub.environment);
    stub.objects.clear();
    const proxy = await DatabaseProxy.open();
    await withEmptyDatabase(source.database, async (url) => {
      const databaseUrl = proxy.reach(url);
      const cut = proxy.cutIn({ commit: 1, made: true });
      await assert.rejects(restoreBackup({ file, dataFolder: source.newPath(), databaseUrl, adapterBucket }));
      await cut;
    });
    await proxy.close();
    const folder = `of/tests/${adapter_hash.replace(':', '-')}`;
    for (const name of [mark, `${folder}/adapter_config.json`]) assert.ok(stub.objects.has(name), name);
  });
});
