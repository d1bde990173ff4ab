import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { access, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isAdapterIntact } from '@engraft/engine';
import { type StubBucket, startStubBucket } from '../../testing/stubBucket.js';
import { keepTestAdapter, writeTestAdapter } from '../../testing/testAdapter.js';
import { openTestBucketStore, type TestBucketStore } from '../../testing/testBucket.js';
import { storeMark } from '../adapterStore.js';
import { AdapterStoreMissing } from '../adapterStoreMissing.js';
import { sourceOf } from './bucketStore.js';
import { probeBucket } from './probeBucket.js';

/** `s3://bucket` of a real server, which the AWS SDK's variables lead to; see `npm run test:s3`. */
const { ...given } = process.env;
const real = given['ENGRAFT_TEST_S3_URL'];

interface Server {
  readonly environment: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

const servers: Readonly<Record<string, () => Promise<Server>>> = {
  'a stub': startStubBucket,
  'a real server': () =>
    Promise.resolve({
      // A prefix of its own: nothing is left of an earlier run.
      environment: { ...given, ENGRAFT_ADAPTER_STORE: `${real}/${randomUUID()}` },
      stop: () => Promise.resolve(),
    }),
};

for (const [name, start] of Object.entries(servers)) {
  const skip =
    name === 'a real server' && real === undefined ? 'no ENGRAFT_TEST_S3_URL: npm run test:s3 has one' : false;
  describe(`a store in a bucket of ${name}`, { skip }, () => {
    let server: Server;
    let store: TestBucketStore;
    let elsewhere: TestBucketStore;
    const patience = (): AbortSignal => AbortSignal.timeout(60_000);
    before(async () => {
      server = await start();
      store = await openTestBucketStore(server.environment);
      elsewhere = await openTestBucketStore(server.environment);
    });
    after(async () => {
      await store.end();
      await elsewhere.end();
      await server.stop();
    });
    const isLent = async (from: TestBucketStore, hash: string): Promise<boolean> => {
      const { adapter, giveBack } = await from.borrow(hash);
      const isWhole = await isAdapterIntact(adapter);
      giveBack();
      return isWhole;
    };

    it('keeps an adapter for every machine, and may be told to keep it again', async () => {
      const hash = await keepTestAdapter(store, 'w'.repeat(300_000));
      assert.deepEqual(store.listCopies(), [hash], 'whoever keeps it has a copy');
      for (const each of [store, elsewhere]) {
        assert.equal(await each.has(hash), true);
        assert.equal(await isLent(each, hash), true);
      }
      assert.equal(await keepTestAdapter(elsewhere, 'w'.repeat(300_000)), hash);
      await elsewhere.keep({ folder: path.join(tmpdir(), randomUUID()), contentHash: hash });
    });

    it('does not count a copy as kept where the bucket has no such adapter any more', async () => {
      const hash = await keepTestAdapter(store, 'only a copy');
      assert.equal(await isLent(elsewhere, hash), true);
      await store.remove(hash);
      const gone = { folder: path.join(tmpdir(), randomUUID()), contentHash: hash };
      await assert.rejects(elsewhere.keep(gone), /is not sha256:\w+ any more/);
      assert.equal(await isLent(elsewhere, hash), true, 'its copy is whole');
    });

    it('removes an adapter once, with its copy, and lends nothing of it', async () => {
      const hash = await keepTestAdapter(store, 'short-lived');
      assert.equal(await isLent(elsewhere, hash), true);
      assert.equal(await store.remove(hash), true);
      assert.equal(await store.remove(hash), false);
      assert.equal(await store.has(hash), false);
      assert.equal(await isLent(store, hash), false);
      assert.equal(await isLent(elsewhere, hash), true, 'a copy is dropped by its own process');
      assert.equal(await elsewhere.dropCopy(hash), true);
      assert.equal(await isLent(elsewhere, hash), false);
      assert.equal(await elsewhere.isIntact(hash), false);
    });

    it('removes half an adapter, as a worker that was killed leaves it', async () => {
      const hash = await keepTestAdapter(store, 'half');
      await store.bucket.deleteObject(`${hash.replace(':', '-')}/adapter_config.json`, patience());
      assert.equal(await store.has(hash), false);
      assert.equal(await store.remove(hash), true);
      assert.equal(await store.remove(hash), false);
    });

    it('keeps nothing that is not what it should be', async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'engraft-other-'));
      const adapter = await writeTestAdapter(folder, 'one');
      await writeFile(path.join(folder, 'adapter_model.safetensors'), 'another');
      await assert.rejects(store.keep(adapter), /is not sha256:/);
      assert.equal(await store.has(adapter.contentHash), false);
      await rm(folder, { recursive: true });
    });

    it('refuses files that are not what their name says, until they are replaced', async () => {
      const hash = await keepTestAdapter(store, 'right bytes');
      const folder = await mkdtemp(path.join(tmpdir(), 'engraft-wrong-'));
      const wrong = await writeTestAdapter(folder, 'wrong bytes');
      const [file] = (await readdir(folder)).filter((each) => each.endsWith('.safetensors'));
      assert.ok(file !== undefined);
      const key = `${hash.replace(':', '-')}/${file}`;
      await store.bucket.putObject(key, await sourceOf(path.join(wrong.folder, file)), patience());
      await rm(folder, { recursive: true });
      const { adapter, giveBack } = await elsewhere.borrow(hash);
      await assert.rejects(access(adapter.folder), { code: 'ENOENT' });
      giveBack();
      assert.equal(await elsewhere.isIntact(hash), false);
      assert.equal(await isLent(store, hash), true, 'its copy was compared when it was made');
      await keepTestAdapter(store, 'right bytes');
      assert.equal(await isLent(elsewhere, hash), true);
    });

    it('passes what the doctor tries, which leaves nothing', async () => {
      await probeBucket(store.bucket, patience());
    });

    it('keeps and removes nothing where its mark is gone: it may be another bucket', async () => {
      const hash = await keepTestAdapter(store, 'kept before');
      await store.bucket.deleteObject(storeMark, patience());
      assert.equal(await store.isPresent(), false);
      await assert.rejects(store.remove(hash), AdapterStoreMissing);
      await assert.rejects(keepTestAdapter(store, 'too late'), AdapterStoreMissing);
      assert.equal(await store.has(hash), true);
    });
  });
}

describe('a store in a bucket', () => {
  let stub: StubBucket;
  before(async () => {
    stub = await startStubBucket();
  });
  after(() => stub.stop());

  it('ends the look at the bucket that is due when it is closed', async () => {
    let ending: AbortSignal | null = null;
    const admit = (signal: AbortSignal): Promise<boolean> => {
      ending = signal;
      return Promise.reject(new Error('another bucket'));
    };
    const store = await openTestBucketStore(stub.environment, { admit });
    await assert.rejects(store.remove(`sha256:${'0'.repeat(64)}`), /another bucket/);
    await store.end();
    assert.ok((ending as AbortSignal | null)?.aborted);
  });

  it('lets others use its folder of copies where it cannot be opened', async () => {
    const dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-unopened-'));
    const first = await openTestBucketStore(stub.environment, { dataFolder });
    await first.close();
    const broken = path.join(first.staging, `sha256-${'0'.repeat(64)}`);
    await symlink('nowhere', broken);
    await assert.rejects(openTestBucketStore(stub.environment, { dataFolder }), { code: 'ENOENT' });
    await rm(broken);
    const again = await openTestBucketStore(stub.environment, { dataFolder });
    assert.equal(again.staging, first.staging);
    await again.close();
    await rm(dataFolder, { recursive: true });
  });
});

describe('what a store leaves in a bucket', () => {
  it('is two objects for each adapter, and its mark', async () => {
    const stub: StubBucket = await startStubBucket();
    const store = await openTestBucketStore(stub.environment);
    const hash = await keepTestAdapter(store, 'weights');
    const folder = `of/tests/${hash.replace(':', '-')}`;
    assert.deepEqual(
      [...stub.objects.keys()].sort(),
      ['of/tests/.engraft-adapters', `${folder}/adapter_config.json`, `${folder}/adapter_model.safetensors`].sort(),
    );
    await probeBucket(store.bucket, AbortSignal.timeout(60_000));
    await store.remove(hash);
    assert.deepEqual([...stub.objects.keys()], ['of/tests/.engraft-adapters']);
    await store.end();
    await stub.stop();
  });
});
