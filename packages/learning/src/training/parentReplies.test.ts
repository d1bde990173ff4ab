import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdapterReference, Engine } from '@engraft/engine';
import { defaultPreset, recipeOf } from '../recipe/preset.js';
import { callsFor } from '../testing/calls.js';
import { withParentReplies } from './parentReplies.js';

const parent: AdapterReference = { folder: '/nowhere', contentHash: 'sha256:0' };
const sentences = recipeOf({ ...defaultPreset, training: { answersWith: 'sentences' } }, 135e6);

const replies = new Map([
  ['Who built it?', 'The kiln was built by Ada Kell in 1874.'],
  ['When did she die?', 'The kiln was built by Ada Kell in 1874.'],
]);

/** A stub in place of an adapter that has learned a passage: it says what is wanted of the test. */
const calls = () =>
  callsFor(
    {
      generate: ({ prompt: { messages } }: Parameters<Engine['generate']>[0]) =>
        Promise.resolve({
          text: replies.get(messages.at(-1)?.content ?? '') ?? '',
          toolCalls: [],
          finishReason: 'stop',
          usage: { inputTokens: 5, outputTokens: 5, cachedInputTokens: 0 },
        }),
      countTokens: () => Promise.resolve(5),
      describe: () => Promise.resolve({ contextLength: 512 }),
    } as unknown as Engine,
    20e6,
  );

const asked = (...pairs: (readonly [string, string])[]) => ({
  training_pairs: pairs.map(([question, answer]) => ({ question, answer })),
  validation_pairs: [],
});

test('an earlier passage is rehearsed with what the parent says, where that is right', async () => {
  const earlier = [asked(['Who built it?', 'Ada Kell'], ['When did she die?', '1901'])];
  assert.deepEqual(await withParentReplies(calls(), parent, earlier, sentences), [
    asked(['Who built it?', 'The kiln was built by Ada Kell in 1874.']),
  ]);
});

test('values, and passages of which the parent says nothing right, are rehearsed as they are kept', async () => {
  const lost = [asked(['When did she die?', '1901'])];
  assert.deepEqual(await withParentReplies(calls(), parent, lost, sentences), lost);
  assert.equal(await withParentReplies(calls(), null, lost, sentences), lost);
  const values = recipeOf(defaultPreset, 135e6);
  const earlier = [asked(['Who built it?', 'Ada Kell'])];
  assert.equal(await withParentReplies(calls(), parent, earlier, values), earlier);
});
