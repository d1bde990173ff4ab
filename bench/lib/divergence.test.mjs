import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseReplies, costOf, divergenceOf } from './divergence.mjs';

/** Stands in for an engine: a token is a word of a text, and base is sure of it to one half. */
const engine = {
  generate: async ({ prompt }) => ({ text: prompt.says, finishReason: prompt.isCutOff ? 'length' : 'stop' }),
  encode: async (_prompt, text) => {
    const words = text === '' ? [] : text.split(' ');
    return { tokens: ['<user>', ...words, '<end>'], targetStart: 1 };
  },
  score: async ({ sequences, adapter }) =>
    sequences.map(({ tokens, targetStart }) => {
      const count = tokens.length - targetStart;
      const logprob = Math.log(adapter === null ? 0.5 : 0.25);
      return { logprobs: Array(count).fill(logprob), topK: Array(count).fill({ ids: [1], logprobs: [logprob] }) };
    }),
  // The loss of a row is the number of its targets; of a batch, the weighted mean of its rows, as in the engine.
  openTraining: async ({ parent }) => ({
    evaluate: async (batch) => {
      const weights = batch.reduce((sum, { weight }) => sum + weight, 0);
      const losses = batch.map(({ weight, softTargets }) => weight * softTargets.length);
      return { loss: losses.reduce((sum, loss) => sum + loss, 0) / weights + (parent === null ? 0 : 1) };
    },
    close: async () => {},
  }),
};

test('a reply that was cut off has no end, and one of white space is left out', async () => {
  const prompts = [{ says: 'one two' }, { says: ' ' }, { says: 'one two', isCutOff: true }];
  const replies = await baseReplies(engine, prompts, 8);
  assert.deepEqual(
    replies.map(({ sequence }) => sequence.tokens),
    [
      ['<user>', 'one', 'two', '<end>'],
      ['<user>', 'one', 'two'],
    ],
  );
  assert.deepEqual(
    replies.map(({ softTargets }) => softTargets.length),
    [3, 2],
  );
});

test('costs are means over the tokens of all replies, in however many batches', async () => {
  // Replies of 2 to 11 targets.
  const prompts = Array.from({ length: 10 }, (_, index) => ({
    says: Array(index + 1)
      .fill('word')
      .join(' '),
  }));
  const replies = await baseReplies(engine, prompts, 16);
  const targets = replies.map(({ softTargets }) => softTargets.length);
  const count = targets.reduce((sum, each) => sum + each, 0);
  const { likeliest, said } = await costOf(engine, replies, null);
  assert.ok(Math.abs(likeliest - targets.reduce((sum, each) => sum + each * each, 0) / count) < 1e-12);
  assert.ok(Math.abs(said - Math.log(2)) < 1e-12);
  const moved = divergenceOf({ likeliest, said }, await costOf(engine, replies, { folder: 'version' }));
  assert.ok(Math.abs(moved.kl_nats - 1) < 1e-12);
  assert.ok(Math.abs(moved.drift_nats - Math.log(2)) < 1e-12);
});
