import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdapterReference, Engine } from '@engraft/engine';
import { defaultPreset, recipeOf } from '../recipe/preset.js';
import { callsFor } from '../testing/calls.js';
import type { Rehearsal } from '../types.js';
import { rehearsedByParent } from './parentReplies.js';

const parent: AdapterReference = { folder: '/nowhere', contentHash: 'sha256:0' };
const sentences = recipeOf({ ...defaultPreset, training: { answersWith: 'sentences' } }, 135e6);

const replies = new Map([
  ['Who built it?', 'The kiln was built by Ada Kell in 1874.'],
  ['When is it closed?', 'The kiln is not open on Mondays.'],
  ['When did she die?', 'The kiln was built by Ada Kell in 1874.'],
]);

/** A stub in place of an adapter that has learned a passage: it says what is wanted of the test. */
const calls = (maxComputeMicrousd = 20e6) =>
  callsFor(
    {
      generate: ({ prompt: { messages } }: Parameters<Engine['generate']>[0]) =>
        Promise.resolve({
          text: replies.get((messages.at(-1)?.content ?? '').replace(/, asked as \d+/u, '')) ?? 'Ada Kell, and then',
          toolCalls: [],
          finishReason: messages.at(-1)?.content === 'What is cut off?' ? 'length' : 'stop',
          usage: { inputTokens: 5, outputTokens: 5, cachedInputTokens: 0 },
        }),
      countTokens: () => Promise.resolve(5),
      describe: () => Promise.resolve({ contextLength: 512 }),
    } as unknown as Engine,
    maxComputeMicrousd,
  );

const asked = (...pairs: (readonly [string, string])[]): Rehearsal => ({
  training_pairs: pairs.map(([question, answer]) => ({ question, answer })),
  validation_pairs: [],
});

test('an earlier passage is rehearsed with what the parent says, where that is right', async () => {
  const earlier = [asked(['Who built it?', 'Ada Kell'], ['When did she die?', '1901'])];
  assert.deepEqual(await rehearsedByParent(calls(), parent, earlier, sentences), [
    asked(['Who built it?', 'The kiln was built by Ada Kell in 1874.']),
  ]);
});

test('a sentence that denies something may be what was learned', async () => {
  const earlier = [asked(['When is it closed?', 'Mondays'])];
  assert.deepEqual(await rehearsedByParent(calls(), parent, earlier, sentences), [
    asked(['When is it closed?', 'The kiln is not open on Mondays.']),
  ]);
});

test('what the parent says nothing right about is rehearsed as it is kept, each passage by itself', async () => {
  const lost = asked(['When did she die?', '1901']);
  const cut = asked(['What is cut off?', 'Ada Kell']);
  const kept = asked(['Who built it?', 'Ada Kell']);
  const said = asked(['Who built it?', 'The kiln was built by Ada Kell in 1874.']);
  assert.deepEqual(await rehearsedByParent(calls(), parent, [lost, kept, cut], sentences), [lost, said, cut]);
});

test('where answers are always sentences, a short one is rehearsed, too', async () => {
  const short = asked(['Who is she?', 'Ada Kell']);
  assert.deepEqual(await rehearsedByParent(calls(), parent, [short], sentences), [
    asked(['Who is she?', 'Ada Kell, and then']),
  ]);
});

test('where answers are either, only a passage that was learned in sentences is rehearsed with them', async () => {
  const either = recipeOf({ ...defaultPreset, training: { answersWith: 'values', sentencesIfAskedPoorly: true } }, 6e6);
  const pairs = asked(['Who built it?', 'Ada Kell']);
  const told: Rehearsal = { ...pairs, answers_with: 'sentences' };
  const ofValue: Rehearsal = { ...pairs, answers_with: 'values' };
  assert.deepEqual(await rehearsedByParent(calls(), parent, [told, ofValue, pairs], either), [
    { ...asked(['Who built it?', 'The kiln was built by Ada Kell in 1874.']), answers_with: 'sentences' },
    ofValue,
    pairs,
  ]);
});

test('nothing is asked where answers are values, or of base, and no more than there is money for', async () => {
  const earlier = [asked(['Who built it?', 'Ada Kell'])];
  assert.equal(await rehearsedByParent(calls(), null, earlier, sentences), null);
  assert.equal(await rehearsedByParent(calls(), parent, [], sentences), null);
  assert.equal(await rehearsedByParent(calls(), parent, earlier, recipeOf(defaultPreset, 135e6)), null);
  assert.deepEqual(await rehearsedByParent(calls(1), parent, earlier, sentences), earlier);
});

test('of many questions some are asked, evenly', async () => {
  const many = asked(
    ...Array.from({ length: 100 }, (_, index) => [`Who built it, asked as ${index}?`, 'Ada Kell'] as const),
  );
  assert.equal(sentences.replay.maxRehearsedQuestions, 96);
  const [rehearsal] = (await rehearsedByParent(calls(), parent, [many], sentences)) ?? [];
  assert.equal(rehearsal?.training_pairs.length, 24);
  const eight =
    (await rehearsedByParent(
      calls(),
      parent,
      Array.from({ length: 8 }, () => many),
      sentences,
    )) ?? [];
  assert.deepEqual(new Set(eight.map(({ training_pairs }) => training_pairs.length)), new Set([12]));
});
