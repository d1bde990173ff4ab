import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tinyConfig } from '../testing/fixtures.js';
import type { TrainingExample } from '../types.js';
import { sum } from '../support/numbers.js';
import { buildBatch } from './batch.js';
import type { TrainingRun } from './runLayout.js';

const plainExample: TrainingExample = { sequence: { tokens: [1, 2, 3, 4], targetStart: 2 }, weight: 1 };

const soft: TrainingExample = {
  sequence: { tokens: [5, 6], targetStart: 1 },
  weight: 3,
  softTargets: [{ ids: [8, 7, 9], logprobs: [Math.log(0.2), Math.log(0.1), -Infinity] }],
};

/** The numbers that the run feeds to the input `name`. */
function numbers(run: TrainingRun, name: string): number[] {
  return Array.from(run.feeds[name]!.data as BigInt64Array | Float32Array, Number);
}

void test('short sequences share a row, and the places before the targets are supervised', () => {
  const {
    parts: [runs = []],
    tokens,
  } = buildBatch([soft, plainExample], tinyConfig);
  assert.equal(tokens, 6);
  assert.equal(runs.length, 1);
  const run = runs[0]!;
  assert.equal(run.packed, true);
  assert.deepEqual([run.rows, run.length, run.targets], [1, 6, 3]);
  assert.deepEqual(run.feeds['ids']!.dims, [1, 6]);
  assert.deepEqual(numbers(run, 'ids'), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(numbers(run, 'segments'), [1, 1, 1, 1, 2, 2]);
  assert.deepEqual(numbers(run, 'trunks'), [1, 1, 1, 1, 2, 2]);
  assert.deepEqual(numbers(run, 'places'), [0, 1, 2, 3, 0, 1]);
  assert.deepEqual(numbers(run, 'positions'), [1, 2, 4]);
  assert.deepEqual(run.feeds['target.ids']!.dims, [3, 3]);
  assert.deepEqual(numbers(run, 'target.ids'), [3, 0, 0, 4, 0, 0, 8, 7, 9]);
  const probabilities = [1, 0, 0, 1, 0, 0, Math.fround(2 / 3), Math.fround(1 / 3), 0];
  assert.deepEqual(numbers(run, 'target.probabilities'), probabilities);
  assert.deepEqual(numbers(run, 'weights'), [0.125, 0.125, 0.75]);
});

void test('targets count in the mean of their example by their weights', () => {
  const weighted = { ...plainExample, targetWeights: [3, 1] };
  const { parts } = buildBatch([soft, weighted], tinyConfig);
  assert.deepEqual(numbers(parts[0]![0]!, 'weights'), [0.1875, 0.0625, 0.75]);
  // In pieces of one target each, one of which counts nothing.
  const long = { sequence: { tokens: [1, 2, 3, 4], targetStart: 1 }, weight: 3, targetWeights: [2, 0, 1] };
  const pieces = buildBatch([plainExample, long], tinyConfig, { maxRunLogits: tinyConfig.vocabularySize });
  const weights = pieces.parts.flat().flatMap((run) => numbers(run, 'weights'));
  assert.deepEqual(weights.sort(), [0.125, 0.125, 0.25, 0.5]);
});

void test('where no row is long enough for two sequences they are right-padded', () => {
  const run = buildBatch([soft, plainExample], { ...tinyConfig, contextLength: 4 }).parts[0]![0]!;
  assert.equal(run.packed, false);
  assert.deepEqual(numbers(run, 'segments'), [1, 1, 1, 1, 2, 2, 0, 0]);
  assert.deepEqual(run.feeds['ids']!.dims, [2, 4]);
  assert.deepEqual(numbers(run, 'ids'), [1, 2, 3, 4, 5, 6, 0, 0]);
  assert.deepEqual(numbers(run, 'positions'), [1, 2, 4]);
});

void test('a batch beyond the size of a run is split by length', () => {
  const config = { ...tinyConfig, contextLength: 4096 };
  const long = { sequence: { tokens: Array.from({ length: 1500 }, () => 1), targetStart: 1400 }, weight: 1 };
  const short = { sequence: { tokens: Array.from({ length: 600 }, () => 1), targetStart: 1 }, weight: 1 };
  const { parts } = buildBatch([short, long, short, short, short], config, { maxRunTokens: 2000 });
  assert.deepEqual(
    parts.map((runs) => runs.map((run) => run.feeds['ids']!.dims)),
    [
      [
        [1, 1500],
        [1, 600],
      ],
      [[3, 600]],
    ],
  );
});

void test('a run has logits within the bound, also for one long example', () => {
  const vast = { ...tinyConfig, vocabularySize: 2 ** 21, contextLength: 256 };
  const tokens = Array.from({ length: 201 }, (_, index) => index);
  const softTargets = Array.from({ length: 200 }, (_, index) => ({ ids: [index], logprobs: [0] }));
  const example = { sequence: { tokens, targetStart: 1 }, weight: 3, softTargets };
  const { parts, tokens: total } = buildBatch([example, plainExample], vast);
  const runs = parts.flat();
  assert.equal(total, 205);
  assert.ok(runs.length > 1 && runs.every((run) => run.targets * vast.vocabularySize <= 2 ** 25));
  const targets = runs.flatMap((run) => numbers(run, 'target.ids'));
  assert.deepEqual(
    targets.toSorted((a, b) => a - b),
    [...tokens.slice(0, 200), 3, 4].sort((a, b) => a - b),
  );
  const weight = sum(runs.flatMap((run) => numbers(run, 'weights')));
  assert.ok(Math.abs(weight - 1) < 1e-6, `${weight}`);
});

const invalid: readonly (readonly [string, readonly TrainingExample[], RegExp, string])[] = [
  ['no examples', [], /^batch /, 'invalid_request'],
  ['weights that sum to zero', [{ ...plainExample, weight: 0 }], /^batch /, 'invalid_request'],
  ['a negative weight', [{ ...plainExample, weight: -1 }], /batch\[0\]\.weight/, 'invalid_request'],
  ['no target', [withSequence([1, 2], 2)], /targetStart/, 'invalid_request'],
  ['a first token as target', [withSequence([1, 2], 0)], /targetStart/, 'invalid_request'],
  [
    'a token outside the vocabulary',
    [plainExample, withSequence([1, 53], 1)],
    /batch\[1\]\.sequence\.tokens/,
    'invalid_request',
  ],
  [
    'a sequence beyond the context',
    [withSequence(new Array<number>(49).fill(1), 1)],
    /49 tokens/,
    'context_length_exceeded',
  ],
  ['too few target weights', [{ ...plainExample, targetWeights: [1] }], /targetWeights must have/, 'invalid_request'],
  [
    'a negative target weight',
    [{ ...plainExample, targetWeights: [1, -1] }],
    /targetWeights must be/,
    'invalid_request',
  ],
  ['target weights all zero', [{ ...plainExample, targetWeights: [0, 0] }], /targetWeights must be/, 'invalid_request'],
  ['too few soft targets', [{ ...plainExample, softTargets: [] }], /softTargets must/, 'invalid_request'],
  ['an empty soft target', [withSoft([], [])], /softTargets\[0\]/, 'invalid_request'],
  ['unlike lengths', [withSoft([1, 2], [-1])], /softTargets\[0\]/, 'invalid_request'],
  ['a repeated id', [withSoft([1, 1], [-1, -1])], /softTargets\[0\]\.ids/, 'invalid_request'],
  ['a logprob that is none', [withSoft([1, 2], [NaN, -1])], /softTargets\[0\]\.logprobs/, 'invalid_request'],
  ['probabilities all zero', [withSoft([1], [-Infinity])], /softTargets\[0\]\.logprobs/, 'invalid_request'],
];

for (const [name, batch, message, code] of invalid) {
  void test(`refused: ${name}`, () => {
    assert.throws(() => buildBatch(batch, tinyConfig), { name: 'EngineError', code, message });
  });
}

function withSequence(tokens: number[], targetStart: number): TrainingExample {
  return { sequence: { tokens, targetStart }, weight: 1 };
}

function withSoft(ids: number[], logprobs: number[]): TrainingExample {
  return {
    ...plainExample,
    softTargets: [
      { ids, logprobs },
      { ids: [1], logprobs: [0] },
    ],
  };
}
