import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { hashAdapterFolder } from '@engraft/engine';
import { mountSmallDisk, noSmallDisk } from '../testing/smallDisk.js';
import { watchSyncs } from '../testing/watchSyncs.js';
import { storeMark } from './adapterStore.js';
import { type FolderStore, openFolderStore } from './folderStore.js';
import { openWorkFolder } from './workFolder.js';

/** Lists the store without its mark. */
async function entriesIn(dataFolder: string): Promise<string[]> {
  return (await readdir(path.join(dataFolder, 'adapters'))).filter((name) => name !== storeMark);
}

describe('adapter store', () => {
  let dataFolder: string;
  let store: FolderStore;
  let hash: string;
  before(async () => {
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-store-'));
    store = await openFolderStore(dataFolder);
    hash = (await makeAdapter()).contentHash;
  });
  after(() => rm(dataFolder, { recursive: true }));

  async function makeAdapter(weights = 'weights'): Promise<{ folder: string; contentHash: string }> {
    const folder = await mkdtemp(path.join(dataFolder, 'work-'));
    await writeFile(path.join(folder, 'adapter_config.json'), '{}');
    await writeFile(path.join(folder, 'adapter_model.safetensors'), weights);
    const contentHash = await hashAdapterFolder(folder);
    assert.ok(contentHash !== null);
    return { folder, contentHash };
  }
  const nameOf = (adapterHash: string): string => adapterHash.replace(':', '-');
  const weightsOf = (folder: string) => readFile(path.join(folder, 'adapter_model.safetensors'), 'utf8');

  it('keeps an adapter under its content, once, and leaves nothing else behind', async () => {
    assert.equal(await store.has(hash), false);
    const adapter = await makeAdapter();
    await Promise.all(Array.from({ length: 4 }, () => store.keep(adapter)));
    const { adapter: borrowed } = await store.borrow(hash);
    assert.deepEqual(borrowed, store.locate(hash));
    assert.equal(await weightsOf(borrowed.folder), 'weights');
    assert.deepEqual(await entriesIn(dataFolder), [nameOf(hash)]);
    assert.equal(await store.has(hash), true);
  });

  it('keeps what is already kept even when the original is gone, as after a crash', async () => {
    await store.keep({ folder: path.join(dataFolder, 'gone'), contentHash: hash });
    assert.equal(await store.isIntact(hash), true);
  });

  it('removes what an attempt that was cut short left behind', async () => {
    const adapter = await makeAdapter('others');
    const removed = adapter.contentHash;
    await store.keep(adapter);
    const halfRemoved = path.join(dataFolder, 'adapters', `.removing-${nameOf(removed)}`);
    await mkdir(halfRemoved);
    await writeFile(path.join(halfRemoved, 'adapter_model.safetensors'), 'weights');
    assert.equal(await store.remove(removed), true);
    assert.equal(await store.has(removed), false);
    assert.deepEqual(await entriesIn(dataFolder), [nameOf(hash)]);
    assert.equal(await store.remove(removed), false);
  });

  it('leaves no trace of a failed copy', async () => {
    const other = `sha256:${'cd'.repeat(32)}`;
    await assert.rejects(store.keep({ folder: path.join(dataFolder, 'gone'), contentHash: other }));
    assert.equal(await store.has(other), false);
    assert.equal((await entriesIn(dataFolder)).length, 1);
  });

  it('deletes what was cut short long ago, and nothing that is under way or kept', async () => {
    const home = path.join(dataFolder, 'adapters');
    const longAgo = new Date(Date.now() - 3_600_000);
    const makeFolder = async (name: string, changedAt?: Date): Promise<void> => {
      await mkdir(path.join(home, name));
      await writeFile(path.join(home, name, 'adapter_config.json'), '{}');
      if (changedAt !== undefined) await utimes(path.join(home, name), changedAt, changedAt);
    };
    await makeFolder('.keeping-0123456789ab', longAgo);
    await makeFolder(`.removing-sha256-${'ef'.repeat(32)}`, longAgo);
    await makeFolder('.keeping-ba9876543210');
    await utimes(store.locate(hash).folder, longAgo, longAgo);
    await store.removeRemnants(1_800_000);
    assert.deepEqual(await entriesIn(dataFolder), ['.keeping-ba9876543210', nameOf(hash)]);
    await rm(path.join(home, '.keeping-ba9876543210'), { recursive: true });
  });

  it('replaces what is kept and damaged, and nothing that is whole', async () => {
    const { folder } = store.locate(hash);
    const file = path.join(folder, 'adapter_model.safetensors');
    await writeFile(file, 'wights');
    await assert.rejects(store.keep({ folder: path.join(dataFolder, 'gone'), contentHash: hash }));
    assert.equal(await weightsOf(folder), 'wights', 'nothing is lost when there is nothing to replace it with');
    await Promise.all(Array.from({ length: 3 }, async () => store.keep(await makeAdapter())));
    assert.equal(await weightsOf(folder), 'weights');
    await rm(path.join(folder, 'adapter_config.json'));
    await store.keep(await makeAdapter());
    assert.equal(await hashAdapterFolder(folder), hash);
    assert.deepEqual(await entriesIn(dataFolder), [nameOf(hash)]);
  });

  it('keeps nothing under the name of another content', async () => {
    const adapter = await makeAdapter('what was trained');
    await writeFile(path.join(adapter.folder, 'adapter_model.safetensors'), 'what the disk gave back');
    await assert.rejects(store.keep(adapter), /is not sha256:/);
    assert.deepEqual(await entriesIn(dataFolder), [nameOf(hash)]);
  });

  it('leaves nothing half-kept on a full disk, and keeps it when there is room', async (t: TestContext) => {
    const disk = await mountSmallDisk(2 ** 20);
    if (disk === null) {
      t.skip(noSmallDisk);
      return;
    }
    try {
      const small = await openFolderStore(disk.folder);
      const adapter = await makeAdapter('w'.repeat(200_000));
      await disk.fill(100_000);
      await assert.rejects(small.keep(adapter), { code: 'ENOSPC' });
      assert.deepEqual(await entriesIn(disk.folder), []);
      await disk.free();
      await small.keep(adapter);
      assert.equal(await small.isIntact(adapter.contentHash), true);
    } finally {
      await disk.remove();
    }
  });

  describe('survives a power cut:', { skip: process.platform !== 'linux' && 'syncs are watched by /proc' }, () => {
    /** Lists the home of all adapters as it was each time that it was synced. */
    async function homeSyncs(work: () => Promise<unknown>): Promise<readonly (readonly string[])[]> {
      const watched = await watchSyncs();
      try {
        await work();
      } finally {
        watched.stop();
      }
      const home = path.join(dataFolder, 'adapters');
      return watched.seen.filter(({ target }) => target === home).map(({ names }) => names);
    }

    it('what is kept, also where another process renamed it and has not come to sync it', async () => {
      const adapter = await makeAdapter('kept twice');
      const name = nameOf(adapter.contentHash);
      assert.ok((await homeSyncs(() => store.keep(adapter))).at(-1)?.includes(name));
      assert.ok((await homeSyncs(() => store.keep(adapter))).at(-1)?.includes(name));
    });

    it('what is removed', async () => {
      const adapter = await makeAdapter('to be removed');
      await store.keep(adapter);
      const synced = await homeSyncs(() => store.remove(adapter.contentHash));
      assert.equal(synced.at(-1)?.includes(nameOf(adapter.contentHash)), false);
    });

    it('where a job works', async () => {
      const watched = await watchSyncs();
      await openWorkFolder(dataFolder, { job_id: 'job_x', fencing_token: 3 });
      watched.stop();
      const synced = (target: string) => watched.seen.find((each) => each.target === target)?.names;
      assert.deepEqual(synced(path.join(dataFolder, 'work', 'job_x')), ['3']);
      assert.deepEqual(synced(path.join(dataFolder, 'work')), ['job_x']);
      assert.ok(synced(dataFolder)?.includes('work'));
    });
  });

  it('refuses a hash that could name another folder', async () => {
    await mkdir(path.join(dataFolder, 'outside'));
    assert.throws(() => store.locate('sha256:../../outside'));
  });
});
