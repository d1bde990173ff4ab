import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { findCachedModel, listCachedModels } from './cachedModels.js';
import { partialOf } from './downloadBlob.js';
import { removeModel } from './removeModel.js';
import { documentedRule } from './testing/documentedRule.js';
import { lockInMemory, modelId, nameOf, openBench } from './testing/pulling.js';
import { sha256 } from './testing/hubFiles.js';

const weights = Buffer.alloc(5000, 3);
const files = { 'config.json': '{"hidden_size": 8}', 'model.safetensors': weights };
const lock = () => ({ tryLock: lockInMemory() });

test('the cache tells which models it has, under which names, and their bytes', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  assert.deepEqual(await listCachedModels(cacheFolder), []);
  const commit = hub.put(modelId, files);
  const tagged = hub.put(modelId, { ...files, 'config.json': '{}' }, 'v1');
  await pull();
  await pull(`${modelId}@v1`);
  await mkdir(path.join(cacheFolder, 'datasets--acme--data', 'snapshots'), { recursive: true });
  await writeFile(path.join(cacheFolder, 'version.txt'), '1');
  const folderOf = (of: string): string => path.join(cacheFolder, 'models--acme--tiny', 'snapshots', of);
  const expected = [
    { id: modelId, commit, refs: ['main'], folder: folderOf(commit), sizeBytes: 5018 },
    { id: modelId, commit: tagged, refs: ['v1'], folder: folderOf(tagged), sizeBytes: 5002 },
  ];
  assert.deepEqual(
    await listCachedModels(cacheFolder),
    expected.sort((a, b) => (a.commit < b.commit ? -1 : 1)),
  );

  const found = async (name: string): Promise<string | undefined> =>
    (await findCachedModel(cacheFolder, nameOf(name)))?.commit;
  assert.equal(await found(modelId), commit);
  assert.equal(await found(`${modelId}@v1`), tagged);
  assert.equal(await found(`${modelId}@${commit}`), commit);
  assert.equal(await found(`${modelId}@${commit.slice(0, 7)}`), commit);
  for (const name of [`${modelId}@${commit.slice(0, 6)}`, `${modelId}@v2`, 'acme/other']) {
    assert.equal(await found(name), undefined, name);
  }
});

documentedRule('Files that other revisions of the model share stay.', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  const commit = hub.put(modelId, files);
  const tagged = hub.put(modelId, { ...files, 'config.json': '{}' }, 'v1');
  await pull();
  await pull(`${modelId}@v1`);
  assert.deepEqual(await removeModel(cacheFolder, nameOf(modelId), lock()), {
    kind: 'removed',
    commit,
    freedBytes: 18,
    sharedBytes: 5000,
    otherCommits: [tagged],
  });
  const kept = await findCachedModel(cacheFolder, nameOf(`${modelId}@v1`));
  assert.deepEqual(await readFile(path.join(kept?.folder ?? '', 'model.safetensors')), weights);
  assert.deepEqual(await removeModel(cacheFolder, nameOf(modelId), lock()), { kind: 'missing', commits: [tagged] });
});

documentedRule('When the last revision goes, downloads that were cut off go with it.', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  const commit = hub.put(modelId, files);
  hub.faults.cutAfter = (length) => (length > 1000 ? 0 : null);
  await assert.rejects(pull(), { code: 'unreachable' });
  const blob = path.join(cacheFolder, 'models--acme--tiny', 'blobs', sha256(weights));
  await writeFile(partialOf(blob), weights.subarray(0, 700));
  const removal = await removeModel(cacheFolder, nameOf(modelId), lock());
  assert.deepEqual(removal, { kind: 'removed', commit, freedBytes: 718, sharedBytes: 0, otherCommits: [] });
  assert.deepEqual(await readdir(cacheFolder), ['.locks']);
});

test('nothing outside the folder of the model is removed, wherever its links lead', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  const commit = hub.put(modelId, files);
  await pull();
  const outside = path.join(path.dirname(cacheFolder), 'outside.txt');
  await writeFile(outside, 'mine');
  const link = path.join(cacheFolder, 'models--acme--tiny', 'snapshots', commit, 'linked.txt');
  await symlink(outside, link);
  await removeModel(cacheFolder, nameOf(modelId), lock());
  assert.equal(await readFile(outside, 'utf8'), 'mine');
});

test('links that lead nowhere are not counted', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  await pull();
  await rm(path.join(cacheFolder, 'models--acme--tiny', 'blobs', sha256(weights)));
  assert.deepEqual(
    (await listCachedModels(cacheFolder)).map(({ sizeBytes }) => sizeBytes),
    [18],
  );
});

test('a removal waits for the pull that goes on', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  await pull();
  const tryLock = lockInMemory();
  const pulling = pull(modelId, {
    tryLock,
    stages: [
      async () => {
        const removing = removeModel(cacheFolder, nameOf(modelId), { tryLock, onWaiting: () => (waited = true) });
        removal = removing;
        await new Promise((resolve) => setTimeout(resolve, 20));
        assert.ok(await findCachedModel(cacheFolder, nameOf(modelId)), 'it is still there');
        return { kind: 'files', paths: [] };
      },
    ],
  });
  let waited = false;
  let removal: ReturnType<typeof removeModel> | undefined;
  await pulling;
  assert.equal((await removal)?.kind, 'removed');
  assert.ok(waited);
});
