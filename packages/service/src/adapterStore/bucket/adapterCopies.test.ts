import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isAdapterIntact } from '@engraft/engine';
import { startStubBucket, type StubBucket } from '../../testing/stubBucket.js';
import { keepTestAdapter } from '../../testing/testAdapter.js';
import { openTestBucketStore, type TestBucketStore } from '../../testing/testBucket.js';

const adapterBytes = 100_002;
const hourMs = 3_600_000;

describe('copies of adapters on this machine', () => {
  let stub: StubBucket;
  let far: TestBucketStore;
  let dataFolder: string;
  let hashes: readonly string[];
  before(async () => {
    stub = await startStubBucket();
    far = await openTestBucketStore(stub.environment);
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-copies-'));
    const made: string[] = [];
    for (const name of ['a', 'b', 'c', 'd']) made.push(await keepTestAdapter(far, name.repeat(adapterBytes - 2)));
    hashes = made;
  });
  after(async () => {
    await far.end();
    await stub.stop();
    await rm(dataFolder, { recursive: true });
  });
  const open = (maxCopiesBytes: number, onEvicted: () => void = () => undefined): Promise<TestBucketStore> =>
    openTestBucketStore(stub.environment, {
      dataFolder,
      maxCopiesBytes,
      observer: { asked: (outcome) => asked.push(outcome), evicted: onEvicted },
    });
  const asked: string[] = [];
  const use = async (store: TestBucketStore, hash: string): Promise<void> => (await store.borrow(hash)).giveBack();
  const folderOf = (hash = '', number = 0): string =>
    path.join(dataFolder, 'adapter-copies', String(number), hash.replace(':', '-'));

  it('are bounded: the least recently used goes first, and none that is in use', async () => {
    const [a = '', b = '', c = '', d = ''] = hashes;
    let evicted = 0;
    const store = await open(2 * adapterBytes, () => (evicted += 1));
    await use(store, a);
    await use(store, b);
    await use(store, a);
    await use(store, c);
    assert.deepEqual([store.listCopies(), store.copiedBytes(), evicted], [[a, c], 2 * adapterBytes, 1]);
    await assert.rejects(access(folderOf(b)), { code: 'ENOENT' });
    assert.deepEqual(asked.splice(0), ['miss', 'miss', 'hit', 'miss']);
    const lent = await Promise.all([a, b, c, d].map((hash) => store.borrow(hash)));
    for (const { adapter } of lent) assert.equal(await isAdapterIntact(adapter), true);
    assert.equal(store.copiedBytes(), 4 * adapterBytes, 'all of them are in use');
    assert.equal(await store.dropCopy(d), false);
    for (const { giveBack } of lent) giveBack();
    await store.close();
    assert.equal((await readdir(folderOf())).length, 2);
  });

  it('are fetched once for all that ask at once', async () => {
    const [, , , d = ''] = hashes;
    const store = await open(10 * adapterBytes);
    await store.dropCopy(d);
    stub.requests.length = 0;
    await Promise.all(Array.from({ length: 8 }, () => use(store, d)));
    assert.equal(stub.requests.filter(({ method }) => method === 'GET').length, 2);
    await store.close();
  });

  it('outlive their process, in their order, without what it was about to fetch', async () => {
    const [a = '', b = '', c = '', d = ''] = hashes;
    const first = await open(10 * adapterBytes);
    for (const hash of [a, b, c, d]) await use(first, hash);
    await first.close();
    for (const [index, hash] of [d, c, b, a].entries()) {
      const used = new Date(Date.now() - hourMs * (4 - index));
      await utimes(folderOf(hash), used, used);
    }
    await mkdir(path.join(folderOf(), '.fetching-0'));
    const second = await open(3 * adapterBytes);
    assert.deepEqual(second.listCopies(), [c, b, a]);
    assert.ok((await readdir(folderOf())).every((name) => !name.startsWith('.')));
    await second.close();
  });

  it('are replaced when they are damaged, also while they are in use', async () => {
    const [a = ''] = hashes;
    const store = await open(10 * adapterBytes);
    const { adapter, giveBack } = await store.borrow(a);
    await writeFile(path.join(adapter.folder, 'adapter_model.safetensors'), 'damaged');
    assert.equal(await store.isIntact(a), true);
    assert.equal(await isAdapterIntact(adapter), true);
    giveBack();
    await store.close();
  });

  it('are not shared by processes that run at once: a further one has its own, for as long as it runs', async () => {
    const [a = ''] = hashes;
    const service = await open(10 * adapterBytes);
    await use(service, a);
    const command = await open(10 * adapterBytes);
    const { adapter, giveBack } = await command.borrow(a);
    assert.equal(adapter.folder, folderOf(a, 1));
    giveBack();
    await command.close();
    await assert.rejects(access(folderOf('', 1)), { code: 'ENOENT' });
    assert.equal(await service.isIntact(a), true);
    await service.close();
  });

  it('go with a further process that was killed when the next one starts, and never with one that runs', async () => {
    const [a = ''] = hashes;
    const service = await open(10 * adapterBytes);
    await use(service, a);
    const script = `
      import { openCopiesFolder } from ${JSON.stringify(new URL('copiesFolder.js', import.meta.url).href)};
      globalThis.folder = await openCopiesFolder(${JSON.stringify(dataFolder)});
      process.stdout.write(globalThis.folder.path);
      setInterval(() => undefined, 1000);`;
    const args = ['--input-type=module', '--eval', script];
    const startFurther = async (number: number): Promise<() => Promise<void>> => {
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      assert.equal(String((await once(child.stdout, 'data'))[0]), folderOf('', number));
      return async () => {
        child.kill('SIGKILL');
        await once(child, 'exit');
      };
    };
    const killFirst = await startFurther(1);
    const killSecond = await startFurther(2);
    await killFirst();
    await access(folderOf('', 1));
    await service.close();
    const next = await open(10 * adapterBytes);
    assert.ok(next.listCopies().includes(a));
    await assert.rejects(access(folderOf('', 1)), { code: 'ENOENT' });
    await access(folderOf('', 2));
    await next.close();
    await killSecond();
    await (await open(10 * adapterBytes)).close();
    await assert.rejects(access(folderOf('', 2)), { code: 'ENOENT' });
    await access(folderOf(a));
  });

  it('of another process that cannot be removed are no reason not to start', async () => {
    const lock = `${folderOf('', 1)}.lock`;
    await rm(lock, { force: true });
    // No file can be locked there.
    await mkdir(path.join(lock, 'in the way'), { recursive: true });
    await mkdir(folderOf('', 1));
    await (await open(10 * adapterBytes)).close();
    await access(folderOf('', 1));
    for (const left of [lock, folderOf('', 1)]) await rm(left, { recursive: true });
  });
});
