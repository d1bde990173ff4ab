import type { SequenceScore, TokenSequence } from '@engraft/engine';
import type { PromptToken } from './readReceipt.js';

/**
 * The score of a sequence from the probabilities of its tokens; `null` if one is missing.
 * @param places for each token but the first.
 */
export function scoreOf(
  { tokens, targetStart }: TokenSequence,
  places: readonly (readonly PromptToken[])[],
  topK: number,
): SequenceScore | null {
  const targets = tokens.slice(targetStart).map((id, target) => {
    const place = places[targetStart + target - 1] ?? [];
    const own = place.find((each) => each.id === id);
    const top = place.filter(({ rank }) => rank <= topK).slice(0, topK);
    return own === undefined || top.length < topK ? null : { own, top };
  });
  const whole = targets.filter((target) => target !== null);
  if (whole.length < targets.length) return null;
  return {
    logprobs: whole.map(({ own }) => own.logprob),
    greedy: whole.every(({ own }) => own.rank === 1),
    topK:
      topK === 0
        ? []
        : whole.map(({ top }) => ({ ids: top.map(({ id }) => id), logprobs: top.map(({ logprob }) => logprob) })),
  };
}

/** The mean cross-entropy of all tokens but the first, in nats; `null` if one is missing. */
export function lossOf(tokens: readonly number[], places: readonly (readonly PromptToken[])[]): number | null {
  const score = scoreOf({ tokens, targetStart: 1 }, places, 0);
  if (score === null) return null;
  return -score.logprobs.reduce((total, logprob) => total + logprob, 0) / score.logprobs.length;
}
