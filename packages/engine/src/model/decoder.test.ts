/** Compares the decoder with `transformers` and `peft`, and its two implementations with each other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshMatrices, toAdapter } from '../lora/parameters.js';
import type { LoraAdapter } from '../adapters/loraAdapter.js';
import { createRandom } from '../support/random.js';
import { fixtureNames, greatestDifference, loadFixture, randomWeights, tinyConfig } from '../testing/fixtures.js';
import { CachedBatch, logSoftmax, scoreEverything } from '../testing/runs.js';
import { weightFeeds } from './inputs.js';

const tolerance = 1e-4;

for (const name of fixtureNames) {
  for (const kind of ['base', 'adapter'] as const) {
    void test(`${name}, ${kind}: scored log-probabilities equal those of the reference`, async () => {
      const fixture = await loadFixture(name);
      const sequences = fixture.examples.map(({ sequence }) => sequence.tokens);
      const scores = await scoreEverything(fixture, kind === 'adapter' ? fixture.adapter : null, sequences);
      const reference = expectedLogits(fixture.expected.get(`${kind}.logits`), sequences);
      for (const [row, tokens] of sequences.entries()) {
        for (const index of tokens.keys()) {
          const expected = logSoftmax(reference[row]![index]!);
          assert.ok(greatestDifference(scores[row]![index]!, expected) <= tolerance, `sequence ${row}, token ${index}`);
        }
      }
    });

    void test(`${name}, ${kind}: cached decoding gives the reference's logits at every token`, async () => {
      const fixture = await loadFixture(name);
      const [tokens] = fixture.examples.map(({ sequence }) => sequence.tokens);
      assert.ok(tokens !== undefined);
      const reference = expectedLogits(fixture.expected.get(`${kind}.logits`), [tokens])[0]!;
      const batch = await CachedBatch.open(fixture, [kind === 'adapter' ? fixture.adapter : null]);
      // Longer than every window, so that both the prompt and the steps after it exceed the windows.
      const prompt = 9;
      const [afterPrompt] = await batch.append([tokens.slice(0, prompt)]);
      assert.ok(greatestDifference(afterPrompt!, reference[prompt - 1]!) <= tolerance, 'after the prompt');
      for (let index = prompt; index < tokens.length; index += 1) {
        const [logits] = await batch.append([[tokens[index]!]]);
        assert.ok(greatestDifference(logits!, reference[index]!) <= tolerance, `after token ${index}`);
      }
    });
  }
}

void test('a ragged batch with another adapter in each row decodes as each row alone', async () => {
  const model = { config: tinyConfig, weights: randomWeights(tinyConfig, 1) };
  const adapters = [randomAdapter(3, 2), null, randomAdapter(5, 3)];
  const prompts = [
    [1, 2, 3, 4, 5, 6, 7],
    [8, 9],
    [10, 11, 12, 13],
  ];
  const together = await CachedBatch.open(model, adapters);
  const alone = await Promise.all(adapters.map((adapter) => CachedBatch.open(model, [adapter])));
  for (const rows of [prompts, [[14], [15], [16]], [[17], [18], [19]]]) {
    const joint = await together.append(rows);
    for (const [index, row] of rows.entries()) {
      const [single] = await alone[index]!.append([row]);
      assert.ok(greatestDifference(joint[index]!, single!) <= 1e-5, `row ${index}`);
    }
  }
});

for (const layerWindows of [
  [null, null],
  [3, null],
  [2, 6],
]) {
  void test(`a prompt may enter the cache in pieces, with windows ${layerWindows.join()}; a zero adapter changes nothing`, async () => {
    const config = { ...tinyConfig, layerWindows };
    const model = { config, weights: randomWeights(config, 1) };
    const tokens = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const whole = await CachedBatch.open(model, [null]);
    const zero = toAdapter(freshMatrices(config, 2, 1), { rank: 2, alpha: 4 });
    const pieces = await CachedBatch.open(model, [zero]);
    const [expected] = await whole.append([tokens]);
    await pieces.append([tokens.slice(0, 4)]);
    const [actual] = await pieces.append([tokens.slice(4)]);
    assert.ok(greatestDifference(actual!, expected!) <= 1e-5);
  });
}

void test('a missing or misshapen weight is named', () => {
  const weights = new Map(randomWeights(tinyConfig, 1));
  weights.set('model.norm.weight', { shape: [3], data: new Float32Array(3) });
  assert.throws(() => weightFeeds(tinyConfig, weights), {
    code: 'checkpoint_invalid',
    message: /model\.norm\.weight/,
  });
  weights.delete('model.norm.weight');
  assert.throws(() => weightFeeds(tinyConfig, weights), {
    code: 'checkpoint_invalid',
    message: /model\.norm\.weight/,
  });
});

/** An adapter whose B matrices are random, too. */
function randomAdapter(rank: number, seed: number): LoraAdapter {
  const flat = freshMatrices(tinyConfig, rank, seed);
  const random = createRandom(seed);
  for (let index = 0; index < flat.values.length; index += 1) flat.values[index]! += (random.next() - 0.5) / 2;
  return toAdapter(flat, { rank, alpha: 2 * rank });
}

/** Turns `[B, T, V]` into `[sequence][token]` without the padding. */
function expectedLogits(
  tensor: { readonly shape: readonly number[]; readonly data: Float32Array } | undefined,
  sequences: readonly (readonly number[])[],
): Float32Array[][] {
  assert.ok(tensor !== undefined);
  const [, length = 0, vocabulary = 0] = tensor.shape;
  return sequences.map((tokens, row) =>
    tokens.map((_, index) => {
      const start = (row * length + index) * vocabulary;
      return tensor.data.slice(start, start + vocabulary);
    }),
  );
}
