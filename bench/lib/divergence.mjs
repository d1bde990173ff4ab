// How far an adapter moves a model's replies: the forward Kullback-Leibler divergence from the model without it.

/** The likeliest tokens at each position, over which the divergence is summed. */
const likeliestTokens = 20;
const rowsABatch = 8;

/**
 * Base's own replies to prompts, each with base's likeliest tokens at every position. Replies without text are left
 * out.
 * @param {import('../../packages/engine/dist/index.js').Engine} engine
 * @param {import('../../packages/engine/dist/index.js').ChatPrompt[]} prompts
 * @returns training examples, one for each reply
 */
export async function baseReplies(engine, prompts, maxReplyTokens) {
  const sequences = await Promise.all(
    prompts.map(async (prompt) => {
      const request = { prompt, adapter: null, maxOutputTokens: maxReplyTokens, temperature: 0 };
      const { text, finishReason } = await engine.generate(request);
      if (text === '') return null;
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
 * The divergence of an adapter from base on base's replies, and how much less likely the tokens that were said have
 * become: both in nats a token, over all tokens of the replies.
 * @param {number} entropy see `crossEntropy`
 */
export async function divergenceOf(engine, replies, adapter, entropy) {
  const [said, saidByVersion] = [await meanLogprob(engine, replies, null), await meanLogprob(engine, replies, adapter)];
  return {
    kl_nats: (await crossEntropy(engine, replies, adapter)) - entropy,
    drift_nats: said - saidByVersion,
  };
}

/**
 * The cost of base's likeliest tokens to base with an adapter, or by itself with `null`, in nats a token.
 * @param {object[]} replies see `baseReplies`
 */
export async function crossEntropy(engine, replies, adapter) {
  // A fresh adapter adds nothing to base, whatever its rank is.
  const session = await engine.openTraining({ parent: adapter, rank: 1, alpha: 1, seed: 1 });
  try {
    let [sum, count] = [0, 0];
    for (let from = 0; from < replies.length; from += rowsABatch) {
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
