import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { documentedRule } from '@engraft/hub/testing/documentedRule.js';
import { modelId, openBench } from '@engraft/hub/testing/pulling.js';
import { findModelFolder } from './modelFolder.js';

const files = { 'config.json': '{}', 'model.safetensors': Buffer.alloc(100) };

test('a pulled model is found by its name; for one that is not, there is the command that pulls it', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  const find = (name: string) => findModelFolder(name, { HF_HUB_CACHE: cacheFolder });
  assert.deepEqual(await find(modelId), {
    kind: 'missing',
    advice: `acme/tiny is neither a folder nor in ${cacheFolder}: \`engraft model pull acme/tiny\` downloads it`,
  });
  const missing = await find(`${modelId}@v1`);
  assert.match(missing.kind === 'missing' ? missing.advice : '', /`engraft model pull acme\/tiny@v1` downloads it$/);

  hub.put(modelId, files);
  const outcome = await pull();
  assert.deepEqual(await find(modelId), { kind: 'found', folder: outcome.kind === 'pulled' && outcome.folder });

  const none = await find('no/such/folder');
  const advice = none.kind === 'missing' ? none.advice : '';
  assert.match(advice, /^there is no folder .*, and 'no\/such\/folder' is no ORG\/NAME$/);
});

test('a model whose pull was cut off is answered with the command that goes on', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  await pull(modelId, { stages: [() => Promise.resolve({ kind: 'files', paths: ['config.json'] })] });
  assert.deepEqual(await findModelFolder(modelId, { HF_HUB_CACHE: cacheFolder }), {
    kind: 'missing',
    advice: 'acme/tiny is not complete: `engraft model pull acme/tiny` goes on with it',
  });
});

documentedRule('A folder of that name is preferred to a pulled model.', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  await pull();
  const place = await mkdtemp(path.join(tmpdir(), 'engraft-folder-'));
  t.after(() => rm(place, { recursive: true }));
  const folder = path.join(place, 'acme', 'tiny');
  await mkdir(folder, { recursive: true });
  assert.deepEqual(await findModelFolder(folder, { HF_HUB_CACHE: cacheFolder }), { kind: 'found', folder });
  // As somebody who works in that folder names it.
  const relative = path.relative(process.cwd(), folder);
  assert.deepEqual(await findModelFolder(relative, { HF_HUB_CACHE: cacheFolder }), { kind: 'found', folder });
});
