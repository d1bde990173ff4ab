import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { adapterFiles, EngineError, hashAdapterFolder, type AdapterReference } from '@engraft/engine';
import { AdapterShelf } from './adapterShelf.js';

const hourMs = 3_600_000;

/** Only the hash is checked here: what else a front checks has its own tests. */
const front = {
  checkAdapter: async ({ folder, contentHash }: AdapterReference): Promise<null> => {
    if ((await hashAdapterFolder(folder)) === contentHash) return null;
    throw new EngineError('adapter_damaged', `${folder} is damaged`);
  },
};

async function openShelf(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-shelf-'));
  t.after(() => rm(folder, { recursive: true }));
  const home = path.join(folder, 'shelf');
  const make = async (name: string): Promise<AdapterReference> => {
    const made = path.join(folder, name);
    await mkdir(made);
    for (const file of adapterFiles) await writeFile(path.join(made, file), name);
    return { folder: made, contentHash: (await hashAdapterFolder(made)) ?? assert.fail() };
  };
  return { home, make, shelf: new AdapterShelf(home, front) };
}

const age = (folder: string): Promise<void> => utimes(folder, 0, 0);

test('an adapter is copied under its hash, once, and stays when its source goes', async (t) => {
  const { home, make, shelf } = await openShelf(t);
  const adapter = await make('one');
  const placed = await shelf.place(adapter);
  assert.deepEqual([placed.name, placed.folder], [AdapterShelf.nameOf(adapter), path.join(home, placed.name)]);
  await rm(adapter.folder, { recursive: true });
  assert.deepEqual(await shelf.place(adapter), placed);
  assert.deepEqual(await new AdapterShelf(home, front).place(adapter), placed);
  assert.deepEqual(await readdir(home), [placed.name]);
});

test('a damaged copy is replaced, and a damaged source is refused by its name', async (t) => {
  const { home, make, shelf } = await openShelf(t);
  const adapter = await make('one');
  const { folder } = await shelf.place(adapter);
  await writeFile(path.join(folder, adapterFiles[0]), 'something else');
  await new AdapterShelf(home, front).place(adapter);
  assert.equal(await hashAdapterFolder(folder), adapter.contentHash);
  const gone = { ...(await make('two')), folder: path.join(home, 'nowhere') };
  await assert.rejects(shelf.place(gone), { code: 'adapter_damaged' });
  assert.deepEqual(await readdir(home), [AdapterShelf.nameOf(adapter)], 'nothing half-copied is left');
});

test('files go when no server lists them and nobody touched them for long', async (t) => {
  const { home, make, shelf } = await openShelf(t);
  const [listed, touched, idle] = [await make('listed'), await make('touched'), await make('idle')];
  for (const each of [listed, touched, idle]) await age((await shelf.place(each)).folder);
  await shelf.touch(AdapterShelf.nameOf(touched));
  await mkdir(path.join(home, '.placing-left'));
  await age(path.join(home, '.placing-left'));
  await writeFile(path.join(home, 'losses.json'), '[]');
  await age(path.join(home, 'losses.json'));
  await shelf.sweep(new Set([AdapterShelf.nameOf(listed)]), hourMs);
  const kept = [...[listed, touched].map((each) => AdapterShelf.nameOf(each)), 'losses.json'];
  assert.deepEqual((await readdir(home)).sort(), kept.sort());
  await shelf.place(idle);
  assert.equal((await readdir(home)).length, 4);
});
