import assert from 'node:assert/strict';
import { lstat, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { listCachedModels } from './cachedModels.js';
import type { PullProgress, PullStage } from './pullModel.js';
import { documentedRule } from './testing/documentedRule.js';
import { everything, lockInMemory, modelId, openBench } from './testing/pulling.js';
import { gitHash, sha256 } from './testing/hubFiles.js';

const weights = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 251));
const files = {
  'config.json': '{"hidden_size": 8}',
  'tokenizer.json': '{"model": {}}',
  'model.safetensors': weights,
  'additional_chat_templates/tool_use.jinja': '{{ messages }}',
  'empty.txt': '',
};

documentedRule("The cache is the one that Python's tools share.", async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  const commit = hub.put(modelId, files);
  const model = path.join(cacheFolder, 'models--acme--tiny');
  const folder = path.join(model, 'snapshots', commit);
  const sizeBytes = Object.values(files).reduce((sum, content) => sum + Buffer.from(content).length, 0);
  assert.deepEqual(await pull(), { kind: 'pulled', commit, folder, sizeBytes, downloadedBytes: sizeBytes });

  assert.equal(await readFile(path.join(model, 'refs', 'main'), 'utf8'), commit);
  const links = {
    'config.json': `../../blobs/${gitHash(files['config.json'])}`,
    'tokenizer.json': `../../blobs/${sha256(files['tokenizer.json'])}`,
    'model.safetensors': `../../blobs/${sha256(weights)}`,
    'additional_chat_templates/tool_use.jinja': `../../../blobs/${gitHash('{{ messages }}')}`,
    'empty.txt': `../../blobs/${gitHash('')}`,
  };
  for (const [name, target] of Object.entries(links)) {
    assert.equal(await readlink(path.join(folder, name)), target);
    assert.deepEqual(await readFile(path.join(folder, name)), Buffer.from(files[name as keyof typeof files]));
  }
  assert.equal((await readdir(path.join(model, 'blobs'))).length, 5, 'nothing else is left');
});

documentedRule(
  'What `transformers` has downloaded is not downloaded again, and `transformers` finds what was pulled.',
  async (t) => {
    const { hub, cacheFolder, pull } = await openBench(t);
    hub.put(modelId, files);
    await pull();
    const blob = path.join(cacheFolder, 'models--acme--tiny', 'blobs', sha256(weights));
    const before = await stat(blob);
    hub.seen.length = 0;
    const again = await pull();
    assert.equal(again.kind === 'pulled' && again.downloadedBytes, 0);
    assert.deepEqual(
      hub.seen.filter(({ path: asked }) => !asked.startsWith('/api/')),
      [],
    );
    assert.equal((await stat(blob)).ino, before.ino);
  },
);

test('a new commit shares what has not changed, and its branch is moved when all of it is there', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  const first = hub.put(modelId, files);
  await pull();
  const second = hub.put(modelId, { ...files, 'config.json': '{"hidden_size": 9}' });
  const refFile = path.join(cacheFolder, 'models--acme--tiny', 'refs', 'main');
  const refs: string[] = [];
  const look: PullStage = async (...call) => {
    refs.push(await readFile(refFile, 'utf8'));
    return everything(...call);
  };
  const outcome = await pull(modelId, { stages: [everything, look] });
  assert.deepEqual(refs, [first]);
  assert.equal(outcome.kind === 'pulled' && outcome.downloadedBytes, 18);
  assert.equal(await readFile(refFile, 'utf8'), second);
  assert.deepEqual(
    (await listCachedModels(cacheFolder)).map(({ commit }) => commit),
    [first, second].sort(),
  );
});

documentedRule('REVISION is a branch, a tag or a commit, `main` by default', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  const main = hub.put(modelId, files);
  const tagged = hub.put(modelId, { 'config.json': '{}' }, 'v1.0');
  const branched = hub.put(modelId, { 'config.json': '[]' }, 'refs/pr/2');
  const commitOf = async (name: string): Promise<string | null> => {
    const outcome = await pull(name);
    return outcome.kind === 'pulled' ? outcome.commit : null;
  };
  assert.equal(await commitOf(modelId), main);
  assert.equal(await commitOf(`${modelId}@v1.0`), tagged);
  assert.equal(await commitOf(`${modelId}@refs/pr/2`), branched);
  assert.equal(await commitOf(`${modelId}@${tagged}`), tagged);
  const refs = path.join(cacheFolder, 'models--acme--tiny', 'refs');
  assert.equal(await readFile(path.join(refs, 'refs', 'pr', '2'), 'utf8'), branched);
  assert.deepEqual((await readdir(refs)).sort(), ['main', 'refs', 'v1.0'], 'a commit needs no name');
});

test('stages choose with what earlier ones brought, and a refusal leaves nothing behind', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  const stages: readonly PullStage[] = [
    () => Promise.resolve({ kind: 'files', paths: ['config.json', 'not-there.json'] }),
    async (folder, listing) => {
      assert.deepEqual(listing.map((file) => file.path).sort(), Object.keys(files).sort());
      return { kind: 'refused', reason: await readFile(path.join(folder, 'config.json'), 'utf8') };
    },
  ];
  assert.deepEqual(await pull(modelId, { stages }), { kind: 'refused', reason: '{"hidden_size": 8}' });
  assert.ok(
    hub.seen.every((request) => request.host === 'hub'),
    'no weights were asked for',
  );
  await assert.rejects(lstat(path.join(cacheFolder, 'models--acme--tiny')), { code: 'ENOENT' });

  await pull();
  await pull(modelId, { stages });
  assert.equal((await listCachedModels(cacheFolder)).length, 1, 'what was there before stays');
});

test('the files of a stage come in the order in which it asks for them, whatever the cache has of them', async (t) => {
  const { hub, pull } = await openBench(t);
  hub.put(modelId, files);
  const asks = (...paths: string[]) => ({ stages: [() => Promise.resolve({ kind: 'files' as const, paths })] });
  const told = new Set<string>();
  const onProgress = (progress: PullProgress) => told.add(progress.path);
  const wanted = ['tokenizer.json', 'model.safetensors', 'config.json'];
  const first = await pull(modelId, { ...asks(...wanted, 'not-there.json', 'config.json'), onProgress });
  assert.deepEqual([...told], wanted);
  assert.equal(first.kind === 'pulled' && first.sizeBytes, first.kind === 'pulled' && first.downloadedBytes);

  const teacher = 'teacher/adapter_model.safetensors';
  const commit = hub.put(modelId, { ...files, [teacher]: Buffer.concat([weights, weights]) });
  const stopping = new AbortController();
  const changes = {
    ...asks(teacher, 'model.safetensors'),
    signal: stopping.signal,
    onProgress: () => stopping.abort(),
  };
  await assert.rejects(pull(`${modelId}@${commit}`, changes), { name: 'AbortError' });
  const folder = first.kind === 'pulled' ? path.join(path.dirname(first.folder), commit) : assert.fail();
  await assert.rejects(lstat(path.join(folder, 'model.safetensors')), { code: 'ENOENT' });
});

test('progress is told in bytes of a stage, and ends with all of them', async (t) => {
  const { hub, pull } = await openBench(t);
  hub.put(modelId, files);
  const told: PullProgress[] = [];
  await pull(modelId, { onProgress: (progress) => told.push(progress) });
  const totalBytes = 100_000 + 18 + 13 + 14;
  assert.ok(told.every((progress) => progress.totalBytes === totalBytes));
  assert.equal(told.at(-1)?.doneBytes, totalBytes);
  for (const [index, { doneBytes }] of told.entries()) assert.ok(doneBytes >= (told[index - 1]?.doneBytes ?? 0));
});

documentedRule('Two pulls of one model take turns.', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  const waited: string[] = [];
  const tryLock = lockInMemory();
  const changes = { tryLock, onWaiting: (owner: string) => waited.push(owner) };
  const both = await Promise.all([pull(modelId, changes), pull(modelId, changes)]);
  assert.deepEqual(both.map((outcome) => outcome.kind === 'pulled' && outcome.downloadedBytes > 0).sort(), [
    false,
    true,
  ]);
  assert.deepEqual(waited, ['another']);
  const blob = path.join(cacheFolder, 'models--acme--tiny', 'blobs', sha256(weights));
  assert.deepEqual(await readFile(blob), weights);
});

documentedRule('Room on the disk is looked for before a download begins.', async (t) => {
  const { hub, pull } = await openBench(t);
  hub.put(modelId, files);
  hub.faults.listing = (entries) =>
    entries.map((entry) => (entry.lfs === undefined ? entry : { ...entry, lfs: { ...entry.lfs, size: 2 ** 52 } }));
  await assert.rejects(pull(), {
    code: 'storage_full',
    message: /takes \d+ bytes more, and .* has room for \d+: make room/,
  });
  assert.ok(
    hub.seen.every(({ path: asked }) => asked.startsWith('/api/')),
    'nothing was downloaded',
  );
});

test('offline, nothing is asked for', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  const settings = { endpoint: hub.endpoint, token: null, cacheFolder, offline: true };
  await assert.rejects(pull(modelId, { settings }), { code: 'unreachable', message: /HF_HUB_OFFLINE/ });
  assert.deepEqual(hub.seen, []);
});

test('a cache that cannot be made is named', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  await writeFile(cacheFolder, '');
  await assert.rejects(pull(), {
    code: 'cache_failed',
    message: /cannot be used \(E[A-Z]+\): HF_HUB_CACHE names another/,
  });
});
