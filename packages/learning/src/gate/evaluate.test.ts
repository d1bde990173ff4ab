import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdapterReference, Engine } from '@engraft/engine';
import { BaseMemory } from '../baseMemory.js';
import { withSentences } from '../recipe/defaults.js';
import { callsFor } from '../testing/calls.js';
import { baseRecipe } from '../testing/recipe.js';
import { chunkPassage } from '../text/chunk.js';
import { evaluate } from './evaluate.js';

const candidate: AdapterReference = { folder: '/nowhere', contentHash: 'sha256:0' };
const denial = 'The pool is not open on Mondays.';
const chunks = chunkPassage(`${denial} The sauna is open on Mondays. It costs 7 euros.`, 500);

/** A stub in place of adapters: the candidate says `reply` to everything, and base nothing that helps. */
async function passes(reply: string, recipe = withSentences(baseRecipe)): Promise<readonly number[]> {
  const engine = {
    generate: ({ adapter }: Parameters<Engine['generate']>[0]) =>
      Promise.resolve({
        text: adapter === null ? 'I do not know.' : reply,
        toolCalls: [],
        finishReason: 'stop',
        usage: { inputTokens: 5, outputTokens: 5, cachedInputTokens: 0 },
      }),
    countTokens: () => Promise.resolve(5),
    describe: () => Promise.resolve({ contextLength: 512 }),
  } as unknown as Engine;
  const heldOut = {
    validation: [
      { question: 'When is the pool closed?', answer: 'Mondays' },
      { question: 'When is the sauna open?', answer: 'Mondays' },
    ],
    retention: [{ question: 'When does the museum close?', answer: 'Mondays' }],
    canaries: [],
  };
  const calls = callsFor(engine, 20e6);
  const memory = new BaseMemory(null);
  const { validation, retention } = await evaluate(calls, memory, candidate, null, heldOut, chunks, recipe);
  return [validation.candidate, retention.candidate];
}

test('the sentence that was trained is right, even if it denies something', async () => {
  assert.deepEqual(await passes(denial), [1, 0]);
  assert.deepEqual(await passes('The pool is not open on Sundays.'), [0, 0]);
  assert.deepEqual(await passes('The sauna is open on Mondays.'), [2, 1]);
});

test('where answers are values, a denial answers nothing', async () => {
  assert.deepEqual(await passes(denial, baseRecipe), [0, 0]);
  assert.deepEqual(await passes('Mondays', baseRecipe), [2, 1]);
});
