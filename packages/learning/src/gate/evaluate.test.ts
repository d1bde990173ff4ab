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
const chunks = chunkPassage('The pool is not open on Mondays. It costs 7 euros.', 500);

/** A stub in place of adapters: the candidate says `reply` to everything, and base nothing that helps. */
async function passes(reply: string, recipe = withSentences(baseRecipe)): Promise<number> {
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
    validation: [{ question: 'When is the pool closed?', answer: 'Mondays' }],
    retention: [],
    canaries: [],
  };
  const calls = callsFor(engine, 20e6);
  const { validation } = await evaluate(calls, new BaseMemory(null), candidate, null, heldOut, chunks, recipe);
  return validation.candidate;
}

test('a sentence of the passage answers what was trained, even if it denies something', async () => {
  assert.equal(await passes('The pool is not open on Mondays.'), 1);
  assert.equal(await passes('The pool is not open on Sundays.'), 0);
  assert.equal(await passes('It costs 7 euros.'), 0);
});

test('where answers are values, a denial answers nothing', async () => {
  assert.equal(await passes('The pool is not open on Mondays.', baseRecipe), 0);
  assert.equal(await passes('Mondays', baseRecipe), 1);
});
