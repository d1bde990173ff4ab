import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { readAdapter } from '../adapters/adapterFolder.js';
import type { LoraAdapter } from '../adapters/loraAdapter.js';
import { weightFeeds } from '../model/inputs.js';
import { loraGroups } from '../model/loraGroups.js';
import { embeddingName } from '../model/weights.js';
import { unmanagedWeights, randomWeights, temporaryFolder, tinyConfig } from '../testing/fixtures.js';
import type { TokenSequence, TrainingExample, TrainingOptions } from '../types.js';
import { sum } from '../support/numbers.js';
import { findProtectedDirections } from './protectedDirections.js';
import { openTrainingSession, type TrainingModel } from './trainingSession.js';

const weights = randomWeights(tinyConfig, 5);
const feeds = weightFeeds(tinyConfig, weights);
const model: TrainingModel = { config: tinyConfig, weights: unmanagedWeights(feeds), name: 'tiny', threads: 1 };
const protectedTexts: readonly TokenSequence[] = [3, 40, 17].map((length, text) => ({
  tokens: Array.from({ length }, (_, index) => (7 * index * index + 5 * text) % tinyConfig.vocabularySize),
  targetStart: 1,
}));
const options: TrainingOptions = { parent: null, rank: 4, alpha: 8, seed: 1, protectedDirections: protectedTexts };
const examples: readonly TrainingExample[] = [
  { sequence: { tokens: [1, 2, 3, 4, 5, 6, 7, 8], targetStart: 4 }, weight: 1 },
  { sequence: { tokens: [9, 10, 11, 12, 13], targetStart: 2 }, weight: 2 },
];

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}

function rowsOf(matrix: Float32Array, width: number): Float32Array[] {
  return Array.from({ length: matrix.length / width }, (_, row) => matrix.subarray(row * width, (row + 1) * width));
}

/** Eigenvalues of a symmetric matrix in descending order, found by Jacobi rotations. */
function eigenvalues(symmetric: readonly (readonly number[])[]): number[] {
  const a = symmetric.map((row) => [...row]);
  const n = a.length;
  for (let sweep = 0; sweep < 30; sweep += 1) {
    for (let p = 0; p < n; p += 1) {
      for (let q = p + 1; q < n; q += 1) {
        if (Math.abs(a[p]![q]!) < 1e-14) continue;
        const theta = (a[q]![q]! - a[p]![p]!) / (2 * a[p]![q]!);
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const c = 1 / Math.hypot(t, 1);
        const s = t * c;
        for (let k = 0; k < n; k += 1) {
          [a[k]![p], a[k]![q]] = [c * a[k]![p]! - s * a[k]![q]!, s * a[k]![p]! + c * a[k]![q]!];
        }
        for (let k = 0; k < n; k += 1) {
          [a[p]![k], a[q]![k]] = [c * a[p]![k]! - s * a[q]![k]!, s * a[p]![k]! + c * a[q]![k]!];
        }
      }
    }
  }
  return a.map((row, index) => row[index]!).sort((x, y) => y - x);
}

test('the directions of some projections are what they are among all', async () => {
  const all = await findProtectedDirections(model, protectedTexts);
  const upper = loraGroups(tinyConfig).slice(-5);
  const found = await findProtectedDirections(model, protectedTexts, upper);
  assert.deepEqual(new Set(found.keys()), new Set(upper.flatMap(({ parts }) => parts.map(({ name }) => name))));
  for (const [name, directions] of found) assert.deepEqual(directions, all.get(name));
});

test('the directions are orthonormal, and hold nearly as much of the inputs as any others could', async () => {
  const directions = await findProtectedDirections(model, protectedTexts);
  for (const { parts, width } of loraGroups(tinyConfig)) {
    const found = directions.get(parts[0]!.name)!.rows;
    for (const { name } of parts)
      assert.equal(directions.get(name)?.rows, found, 'projections of one input share them');
    const rows = rowsOf(found, width);
    assert.equal(rows.length, Math.min(16, width / 4));
    for (const [i, row] of rows.entries()) {
      for (const [j, other] of rows.entries()) assert.ok(Math.abs(dot(row, other) - Number(i === j)) < 1e-4);
    }
  }

  // The first layer's input is the normed embedding, so it can be computed without the graph.
  const width = tinyConfig.hiddenSize;
  const scale = weights.get('model.layers.0.input_layernorm.weight')!.data;
  const table = rowsOf(weights.get(embeddingName)!.data, width);
  const inputs = protectedTexts.flatMap(({ tokens }) =>
    tokens.map((token) => {
      const row = table[token]!;
      const rms = Math.sqrt(dot(row, row) / width + tinyConfig.rmsNormEps);
      return row.map((value, index) => (value / rms) * scale[index]!);
    }),
  );
  const moments = Array.from({ length: width }, (_, i) =>
    Array.from({ length: width }, (__, j) => sum(inputs.map((x) => x[i]! * x[j]!))),
  );
  const leading = directions.get('model.layers.0.self_attn.q_proj')!;
  const found = rowsOf(leading.rows, width);
  const held = sum(found.map((row) => sum(inputs.map((x) => dot(x, row) ** 2))));
  const values = eigenvalues(moments);
  const best = sum(values.slice(0, found.length));
  assert.ok(held <= best * (1 + 1e-4) && held >= 0.95 * best, `${held} of ${best}`);
  assert.ok(Math.abs(leading.share - held / sum(values)) < 1e-4);
});

/** The product of each A with each protected direction, and the greatest magnitude in any A. */
async function along(adapter: LoraAdapter): Promise<{ readonly parts: number[]; readonly greatest: number }> {
  const directions = await findProtectedDirections(model, protectedTexts);
  const parts: number[] = [];
  let greatest = 0;
  for (const [name, { rows: found }] of directions) {
    const a = adapter.matrices.get(`${name}.lora_A`)!;
    const width = a.shape[1]!;
    for (const row of rowsOf(a.data, width)) {
      for (const direction of rowsOf(found, width)) parts.push(dot(row, direction));
      greatest = Math.max(greatest, ...row.map(Math.abs));
    }
  }
  return { parts, greatest };
}

test('a fresh adapter does nothing along the directions, however long it is trained', async (t) => {
  const folder = await temporaryFolder(t);
  const session = await openTrainingSession(model, options);
  const before = await session.evaluate(examples);
  for (let step = 0; step < 20; step += 1) await session.step(examples, 0.02);
  const after = await session.evaluate(examples);
  assert.ok(after.loss < before.loss / 5, `${before.loss} to ${after.loss}`);
  const adapter = await readAdapter(await session.save(path.join(folder, 'a')), tinyConfig);
  await session.close();
  const { parts, greatest } = await along(adapter);
  assert.ok(Math.max(...parts.map(Math.abs)) < 1e-5 * greatest);
});

test('what a parent does along them stays, to which a training without them adds', async (t) => {
  const folder = await temporaryFolder(t);
  const first = await openTrainingSession(model, { ...options, protectedDirections: [] });
  for (let step = 0; step < 3; step += 1) await first.step(examples, 0.02);
  const parent = await first.save(path.join(folder, 'parent'));
  await first.close();
  const known = await along(await readAdapter(parent, tinyConfig));
  const changes: number[] = [];
  for (const protectedDirections of [protectedTexts, []]) {
    const child = await openTrainingSession(model, { ...options, parent, protectedDirections });
    for (let step = 0; step < 5; step += 1) await child.step(examples, 0.02);
    const saved = await readAdapter(await child.save(path.join(folder, `child${changes.length}`)), tinyConfig);
    await child.close();
    const { parts } = await along(saved);
    changes.push(Math.max(...parts.map((part, index) => Math.abs(part - known.parts[index]!))));
  }
  assert.ok(changes[0]! < 1e-5 && changes[1]! > 1e-3, changes.join());
});

test('a training that protects directions of texts goes on from its snapshot to the last bit, with the same texts only', async (t) => {
  const folder = await temporaryFolder(t);
  const session = await openTrainingSession(model, options);
  await session.step(examples, 0.02);
  const snapshot = path.join(folder, 'snapshot');
  await session.snapshot(snapshot);
  for (const protectedDirections of [[], protectedTexts.slice(1)]) {
    await assert.rejects(openTrainingSession(model, { resume: snapshot, protectedDirections }), {
      code: 'invalid_request',
      message: 'protectedDirections must be the sequences that the training began with',
    });
  }
  const resumed = await openTrainingSession(model, { resume: snapshot, protectedDirections: protectedTexts });
  const hashes = [];
  for (const [name, each] of [
    ['a', session],
    ['b', resumed],
  ] as const) {
    for (let step = 0; step < 3; step += 1) await each.step(examples, 0.02);
    hashes.push((await each.save(path.join(folder, name))).contentHash);
    await each.close();
  }
  assert.equal(hashes[0], hashes[1]);
});

test('texts that the model cannot read are refused by name', async () => {
  const opened = (tokens: readonly number[]) =>
    openTrainingSession(model, { ...options, protectedDirections: [protectedTexts[0]!, { tokens, targetStart: 1 }] });
  await assert.rejects(opened([1, tinyConfig.vocabularySize]), {
    code: 'invalid_request',
    message: /^protectedDirections\[1\]\.tokens must be whole numbers below/,
  });
  await assert.rejects(opened(new Array<number>(tinyConfig.contextLength + 1).fill(1)), {
    code: 'context_length_exceeded',
    message: /^protectedDirections\[1\] has/,
  });
  const empty = { ...options, protectedDirections: [{ tokens: [], targetStart: 1 }] };
  await assert.rejects(openTrainingSession(model, empty), {
    message: 'protectedDirections must hold at least one token',
  });
});
