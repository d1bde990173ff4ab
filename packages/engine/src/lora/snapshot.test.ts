import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { serializeSafetensors } from '../checkpoint/safetensors.js';
import { tinyConfig, temporaryFolder } from '../testing/fixtures.js';
import { freshMatrices, toAdapter } from './parameters.js';
import { readSnapshot, writeSnapshot, type TrainingSnapshot } from './snapshot.js';

const matrices = freshMatrices(tinyConfig, 2, 1);
const snapshot: TrainingSnapshot = {
  adapter: toAdapter(matrices, { rank: 2, alpha: 3 }),
  optimizer: { first: matrices.values.map((x) => x / 3), second: matrices.values.map((x) => x * x), steps: 7 },
  options: { betas: [0.8, 0.9], weightDecay: 0.25, clipNorm: Infinity },
  protectedHash: 'abc',
};

async function written(t: TestContext): Promise<string> {
  const folder = path.join(await temporaryFolder(t), 'snapshot');
  await writeSnapshot(folder, snapshot, 'base');
  return folder;
}

void test('what is written is read back unchanged', async (t) => {
  assert.deepEqual(await readSnapshot(await written(t), tinyConfig, 'base'), snapshot);
});

const damaged: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
  ['another model', { model: 'other' }, /training\.json: model is "other", but this engine runs "base"/],
  ['another format', { format: 2 }, /training\.json: format must be 1/],
  ['another adapter', { adapter_hash: 'sha256:0' }, /contentHash/],
  ['no hash', { adapter_hash: 3 }, /training\.json: adapter_hash/],
  ['other moments', { optimizer_sha256: '0' }, /optimizer\.safetensors: its hash is not the one in/],
  ['negative steps', { steps: -1 }, /training\.json: steps/],
  ['one beta', { betas: [0.9] }, /training\.json: betas/],
  ['a beta of 1', { betas: [0.9, 1] }, /training\.json: betas/],
  ['a decay that is none', { weight_decay: '0' }, /training\.json: weight_decay/],
  ['a bound of 0', { clip_norm: 0 }, /training\.json: clip_norm/],
  ['texts that are a number', { spared_sha256: 5 }, /training\.json: spared_sha256/],
];

for (const [name, changes, message] of damaged) {
  void test(`refused: ${name}`, async (t) => {
    const folder = await written(t);
    const file = path.join(folder, 'training.json');
    const state = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...state, ...changes }));
    await assert.rejects(readSnapshot(folder, tinyConfig, 'base'), { code: 'adapter_invalid', message });
  });
}

void test('refused: a model that is a list too deep to be shown', async (t) => {
  const folder = await written(t);
  const file = path.join(folder, 'training.json');
  const deep = '['.repeat(20_000) + ']'.repeat(20_000);
  await writeFile(file, (await readFile(file, 'utf8')).replace('"model": "base"', `"model": ${deep}`));
  await assert.rejects(readSnapshot(folder, tinyConfig, 'base'), {
    code: 'adapter_invalid',
    message: /training\.json: model is \[\.\.\.\], but this engine runs "base"/,
  });
});

void test('refused: moments of another size, cut short or missing, and a state that is no JSON', async (t) => {
  const folder = await written(t);
  const refuses = (message: RegExp) =>
    assert.rejects(readSnapshot(folder, tinyConfig, 'base'), {
      name: 'EngineError',
      code: 'adapter_invalid',
      message,
    });
  const moments = path.join(folder, 'optimizer.safetensors');
  await truncate(moments, 1000);
  await refuses(/optimizer\.safetensors: its hash is not the one in/);
  await truncate(moments, 2 ** 30);
  await refuses(/1073741824 bytes/);
  const short = serializeSafetensors([['first_moment', { shape: [1], data: new Float32Array(1) }]], {});
  await writeFile(moments, short);
  const file = path.join(folder, 'training.json');
  const state = JSON.parse(await readFile(file, 'utf8')) as object;
  const optimizerSha256 = createHash('sha256').update(short).digest('hex');
  await writeFile(file, JSON.stringify({ ...state, optimizer_sha256: optimizerSha256 }));
  await refuses(/optimizer\.safetensors: first_moment must have/);
  await writeFile(file, '{');
  await refuses(/training\.json is not JSON/);
});
