// How far an adapter moves a model's replies: the forward Kullback-Leibler divergence from the model without it.

/** The likeliest tokens at each position, over which the divergence is summed. */
const likeliestTokens = 20;
const rowsABatch = 8;

/**
 * Base's own replies to prompts, each with base's likeliest tokens at every position. Replies without text are left
 * out.
 * @param {import('../../packages/engine/dist/index.js').Engine} engine
 * @param {import('../../packages/engine/dist/index.js').ChatPrompt[]} prompts
 * @param {number} maxReplyTokens
 * @returns training examples, one for each reply
 */
export async function baseReplies(engine, prompts, maxReplyTokens) {
  const sequences = await Promise.all(
    prompts.map(async (prompt) => {
      const request = { prompt, adapter: null, maxOutputTokens: maxReplyTokens, temperature: 0 };
      const { text, finishReason } = await engine.generate(request);
      if (text.trim() === '') return null;
      const sequence = await engine.encode(prompt, text, { markup: true });
      return finishReason === 'length' ? withoutEnd(engine, prompt, sequence) : sequence;
    }),
  );
  return Promise.all(
    sequences
      .filter((sequence) => sequence !== null)
      .map(async (sequence) => {
        const [{ topK }] = await engine.score({ sequences: [sequence], adapter: null, topK: likeliestTokens });
        return { sequence, weight: 1, softTargets: topK };
      }),
  );
}

/** A reply that was cut off has no end of turn. */
async function withoutEnd(engine, prompt, { tokens, targetStart }) {
  const nothing = await engine.encode(prompt, '');
  return { tokens: tokens.slice(0, tokens.length - (nothing.tokens.length - nothing.targetStart)), targetStart };
}

/**
 * The cost of base's replies to a model, in nats a token, over all tokens of the replies.
 * @param {object[]} replies see `baseReplies`
 * @param {import('../../packages/engine/dist/index.js').AdapterReference | null} adapter `null` for base itself
 * @returns `likeliest`, the cross-entropy of base's likeliest tokens, and `said`, that of the tokens that were said
 */
export async function costOf(engine, replies, adapter) {
  return {
    likeliest: await crossEntropy(engine, replies, adapter),
    said: -(await meanLogprob(engine, replies, adapter)),
  };
}

/**
 * How far one model is from another on base's replies. Base's probabilities of the likeliest tokens are scaled to a sum
 * of 1, and the other tokens left out, so the divergence may fall a little below zero.
 * @param {{ likeliest: number, said: number }} base see `costOf`
 * @param {{ likeliest: number, said: number }} version the same of an adapter
 * @returns in nats a token: `kl_nats`, the divergence, and `drift_nats`, the loss of likelihood of the said tokens
 */
export function divergenceOf(base, version) {
  return { kl_nats: version.likeliest - base.likeliest, drift_nats: version.said - base.said };
}

async function crossEntropy(engine, replies, adapter) {
  // A fresh adapter adds nothing to base, whatever its rank is. A parent keeps its own.
  const session = await engine.openTraining({ parent: adapter, rank: 1, alpha: 1, seed: 1 });
  try {
    let [sum, count] = [0, 0];
    for (let from = 0; from < replies.length; from += rowsABatch) {
      // A batch's loss is the weighted mean over its rows, so this makes it the mean over its tokens.
      const batch = replies.slice(from, from + rowsABatch).map((row) => ({ ...row, weight: row.softTargets.length }));
      const tokens = batch.reduce((total, { weight }) => total + weight, 0);
      const { loss } = await session.evaluate(batch);
      sum += loss * tokens;
      count += tokens;
    }
    return sum / count;
  } finally {
    await session.close();
  }
}

async function meanLogprob(engine, replies, adapter) {
  const scores = await Promise.all(
    replies.map(({ sequence }) => engine.score({ sequences: [sequence], adapter, topK: 0 })),
  );
  const logprobs = scores.flatMap(([score]) => [...score.logprobs]);
  return logprobs.reduce((sum, logprob) => sum + logprob, 0) / logprobs.length;
}
