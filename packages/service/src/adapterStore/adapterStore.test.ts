import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type AdapterStore, openAdapterStore } from './adapterStore.js';

const hash = `sha256:${'ab'.repeat(32)}`;

describe('adapter store', () => {
  let data_folder: string;
  let store: AdapterStore;
  before(async () => {
    data_folder = await mkdtemp(path.join(tmpdir(), 'engraft-store-'));
    store = await openAdapterStore(data_folder);
  });
  after(() => rm(data_folder, { recursive: true }));

  async function makeAdapter(): Promise<string> {
    const folder = await mkdtemp(path.join(data_folder, 'work-'));
    await writeFile(path.join(folder, 'adapter_config.json'), '{}');
    await writeFile(path.join(folder, 'adapter_model.safetensors'), 'weights');
    return folder;
  }

  it('keeps an adapter under its content, once, and leaves nothing else behind', async () => {
    assert.equal(await store.has(hash), false);
    const folder = await makeAdapter();
    const kept = await Promise.all(Array.from({ length: 4 }, () => store.keep({ folder, contentHash: hash })));
    for (const { folder: where } of kept) assert.equal(where, kept[0]!.folder);
    assert.equal(await readFile(path.join(kept[0]!.folder, 'adapter_model.safetensors'), 'utf8'), 'weights');
    assert.deepEqual(await readdir(path.join(data_folder, 'adapters')), [`sha256-${'ab'.repeat(32)}`]);
    assert.equal(await store.has(hash), true);
  });

  it('keeps what is already kept even when the original is gone, as after a crash', async () => {
    const kept = await store.keep({ folder: path.join(data_folder, 'gone'), contentHash: hash });
    assert.deepEqual(kept, store.locate(hash));
  });

  it('removes what an attempt that was cut short left behind', async () => {
    const removed = `sha256:${'ef'.repeat(32)}`;
    await store.keep({ folder: await makeAdapter(), contentHash: removed });
    const half_removed = path.join(data_folder, 'adapters', `.removing-sha256-${'ef'.repeat(32)}`);
    await mkdir(half_removed);
    await writeFile(path.join(half_removed, 'adapter_model.safetensors'), 'weights');
    await store.remove(removed);
    assert.equal(await store.has(removed), false);
    assert.deepEqual(await readdir(path.join(data_folder, 'adapters')), [`sha256-${'ab'.repeat(32)}`]);
  });

  it('leaves no trace of a failed copy', async () => {
    const other = `sha256:${'cd'.repeat(32)}`;
    await assert.rejects(store.keep({ folder: path.join(data_folder, 'gone'), contentHash: other }));
    assert.equal(await store.has(other), false);
    assert.equal((await readdir(path.join(data_folder, 'adapters'))).length, 1);
  });

  it('deletes what was cut short long ago, and nothing that is under way or kept', async () => {
    const home = path.join(data_folder, 'adapters');
    const long_ago = new Date(Date.now() - 3_600_000);
    const makeFolder = async (name: string, changed_at?: Date): Promise<void> => {
      await mkdir(path.join(home, name));
      await writeFile(path.join(home, name, 'adapter_config.json'), '{}');
      if (changed_at !== undefined) await utimes(path.join(home, name), changed_at, changed_at);
    };
    await makeFolder('.keeping-0123456789ab', long_ago);
    await makeFolder(`.removing-sha256-${'ef'.repeat(32)}`, long_ago);
    await makeFolder('.keeping-ba9876543210');
    await utimes(store.locate(hash).folder, long_ago, long_ago);
    await store.removeRemnants(1_800_000);
    assert.deepEqual(await readdir(home), ['.keeping-ba9876543210', `sha256-${'ab'.repeat(32)}`]);
    await rm(path.join(home, '.keeping-ba9876543210'), { recursive: true });
  });

  it('refuses a hash that could name another folder', async () => {
    await mkdir(path.join(data_folder, 'outside'));
    assert.throws(() => store.locate('sha256:../../outside'));
  });
});
