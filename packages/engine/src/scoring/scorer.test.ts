import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readAdapter } from '../adapters/adapterFolder.js';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';
import { SharedWeights } from '../model/sharedWeights.js';
import type { WeightReader } from '../model/weights.js';
import { createRandom } from '../support/random.js';
import type { SequenceScore, TokenSequence } from '../types.js';
import { prepareAdapter, type LoadedAdapter } from '../adapters/loadedAdapter.js';
import type { LoadedModel } from '../inference/modelRunner.js';
import { defaultScoreLimits, scoreBytes } from './scoreLimits.js';
import { Scorer } from './scorer.js';

async function withModel(use: (model: LoadedModel, adapter: LoadedAdapter) => Promise<void>): Promise<void> {
  await withRandomCheckpoint(async (folder) => {
    const { config, weights } = await openCheckpoint(join(folder, 'model'));
    const reference = await writeRandomAdapter(join(folder, 'adapter'), config, 1);
    const adapter = await readAdapter(reference, config);
    const loaded = prepareAdapter(reference.contentHash, adapter, config);
    await use({ config, weights: await SharedWeights.open(config, weights), threads: 1 }, loaded);
  });
}

type Places = Parameters<WeightReader['read']>[0];

function randomSequences(count: number): TokenSequence[] {
  const random = createRandom(9);
  const below = (bound: number): number => Math.floor(random.next() * bound);
  return Array.from({ length: count }, () => {
    const tokens = Array.from({ length: 2 + below(120) }, () => below(384));
    return { tokens, targetStart: 1 + below(tokens.length) };
  });
}

function assertClose(actual: SequenceScore, expected: SequenceScore): void {
  assert.equal(actual.greedy, expected.greedy);
  assert.equal(actual.logprobs.length, expected.logprobs.length);
  actual.logprobs.forEach((value, index) => assert.ok(Math.abs(value - expected.logprobs[index]!) < 1e-4));
  assert.deepEqual(
    actual.topK.map(({ ids }) => ids),
    expected.topK.map(({ ids }) => ids),
  );
}

test('scores do not depend on how sequences share runs', async () => {
  await withModel(async (model, adapter) => {
    const sequences = randomSequences(24);
    const expected: SequenceScore[] = [];
    const scorer = new Scorer(model);
    for (const sequence of sequences) expected.push(...(await scorer.score([sequence], adapter, 3)));
    for (const limits of [
      {},
      { maxRunTokens: 200 },
      { maxRunLogits: 384 * 7 },
      { maxRunTokens: 1, maxRunLogits: 1 },
      // This is what the longest sequence takes by itself.
      { maxRunLogits: 384 * 7, maxRunBytes: scoreBytes(model.config, 1, 121, 7) },
    ]) {
      const limited = new Scorer(model, { ...defaultScoreLimits, ...limits });
      const scores = await limited.score(sequences, adapter, 3);
      scores.forEach((score, index) => assertClose(score, expected[index]!));
      await limited.close();
    }
    await scorer.close();
  });
});

test('a score says whether greedy decoding would write the targets', async () => {
  await withModel(async (model, adapter) => {
    const scorer = new Scorer(model);
    const tokens = [5, 6, 7];
    for (let step = 0; step < 4; step += 1) {
      const [score] = await scorer.score([{ tokens: [...tokens, 0], targetStart: tokens.length }], adapter, 1);
      tokens.push(score!.topK[0]!.ids[0]!);
    }
    const other = [...tokens.slice(0, -1), (tokens.at(-1)! + 1) % 384];
    const [greedy, notGreedy, base, none] = await scorer.score(
      [tokens, other, tokens].map((list) => ({ tokens: list, targetStart: 3 })).concat({ tokens, targetStart: 7 }),
      adapter,
      0,
    );
    assert.deepEqual([greedy!.greedy, notGreedy!.greedy, base!.greedy], [true, false, true]);
    assert.deepEqual(none, { logprobs: [], greedy: true, topK: [] });
    assert.deepEqual(greedy!.topK, []);
    await scorer.close();
  });
});

test('impossible requests are refused', async () => {
  await withModel(async (model, adapter) => {
    const scorer = new Scorer(model);
    const refuses = async (sequence: TokenSequence, topK: number, code: string, message: RegExp): Promise<void> => {
      await assert.rejects(scorer.score([sequence], adapter, topK), { code, message });
    };
    const fine = { tokens: [1, 2], targetStart: 1 };
    await refuses({ ...fine, tokens: [1, 384] }, 0, 'invalid_request', /sequences\[0\]\.tokens/);
    await refuses({ ...fine, targetStart: 0 }, 0, 'invalid_request', /sequences\[0\]\.targetStart/);
    await refuses({ ...fine, targetStart: 3 }, 0, 'invalid_request', /targetStart/);
    await refuses(fine, 385, 'invalid_request', /topK/);
    await refuses({ ...fine, tokens: new Array<number>(513).fill(1) }, 0, 'context_length_exceeded', /513 tokens/);
  });
});

test('a sequence that would take more memory than the bound is refused before anything is computed', async () => {
  await withModel(async (model, adapter) => {
    const config = { ...model.config, contextLength: 2 ** 17 };
    // These weights cannot be read, so nothing can be computed.
    const { reader } = model.weights;
    let reads = 0;
    const readOnce = {
      read: (places: Places) => (reads++ === 0 ? reader.read(places) : Promise.reject(new Error())),
      blocks: (name: string) => reader.blocks(name),
    };
    const weights = await SharedWeights.open(model.config, readOnce);
    const scorer = new Scorer({ ...model, config, weights }, { ...defaultScoreLimits, maxRunBytes: 2 ** 32 });
    const short = { tokens: [1, 2], targetStart: 1 };
    const long = { tokens: new Array<number>(2 ** 16).fill(1), targetStart: 2 ** 16 - 1 };
    await assert.rejects(scorer.score([short, long], adapter, 0), {
      name: 'EngineError',
      code: 'memory_exceeded',
      message: 'sequences[1] has 65536 tokens, which do not fit in maxScoreBytes, 4294967296 bytes',
    });
    const narrow = new Scorer(model, { ...defaultScoreLimits, maxRunBytes: scoreBytes(model.config, 1, 64, 60) });
    const sequence = (length: number): TokenSequence => ({ tokens: new Array<number>(length).fill(1), targetStart: 4 });
    const scores = await narrow.score([sequence(64), sequence(64), sequence(64)], adapter, 0);
    assert.deepEqual(
      scores.map(({ logprobs }) => logprobs.length),
      [60, 60, 60],
    );
    await assert.rejects(narrow.score([sequence(65)], adapter, 0), { code: 'memory_exceeded', message: /65 tokens/ });
    await Promise.all([scorer.close(), narrow.close()]);
  });
});

test('closing cancels what is under way before anything is freed', async () => {
  await withModel(async (model, adapter) => {
    for (let turns = 0; turns < 5; turns += 1) {
      const scorer = new Scorer(model, { ...defaultScoreLimits, maxRunTokens: 200 });
      const scoring = scorer.score(randomSequences(24), adapter, 0);
      const ended = assert.rejects(scoring, { name: 'EngineError', code: 'cancelled' });
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await scorer.close();
      await ended;
    }
  });
});
