import { EngineError } from '../engine.js';
import type { Random } from '../support/random.js';

/** The token with the greatest logit, the first of equals. `logits` has one value for each token of the vocabulary. */
export function argmax(logits: Float32Array): number {
  let best = 0;
  let bestLogit = -Infinity;
  for (let id = 0; id < logits.length; id += 1) {
    const logit = logits[id] ?? -Infinity;
    if (logit > bestLogit) {
      best = id;
      bestLogit = logit;
    }
  }
  if (!Number.isFinite(bestLogit)) throw new EngineError('internal', 'the model computed no finite logit');
  return best;
}

export interface Sampling {
  /** 0 takes the greatest logit. */
  readonly temperature: number;
  /** See `GenerateRequest.minP`. */
  readonly minP?: number;
  /** Tokens that are never drawn, whatever their logits. */
  readonly banned?: readonly number[];
}

/**
 * Draws the next token from softmax(logits / temperature) with one random number. It walks the vocabulary in order of
 * ids, so that the same logits and seed give the same token.
 */
export function sample(logits: Float32Array, { banned = [], ...sampling }: Sampling, random: Random): number {
  const own = banned.map((id) => logits[id] ?? -Infinity);
  for (const id of banned) logits[id] = -Infinity;
  try {
    return draw(logits, sampling, random);
  } finally {
    // Log-probabilities are computed from these logits later and must be the model's own.
    for (const [index, id] of banned.entries()) logits[id] = own[index] ?? -Infinity;
  }
}

function draw(logits: Float32Array, { temperature, minP = 0 }: Sampling, random: Random): number {
  const best = argmax(logits);
  if (temperature === 0) return best;
  const peak = logits[best] ?? 0;
  // Subtracting the peak first keeps the exponentials in range at any temperature. Min-p compares the model's own
  // probabilities, whatever the temperature.
  const least = peak + Math.log(minP);
  const weight = (id: number): number => {
    const logit = logits[id] ?? -Infinity;
    return logit < least ? 0 : Math.exp((logit - peak) / temperature);
  };
  let total = 0;
  for (let id = 0; id < logits.length; id += 1) total += weight(id);
  let remaining = random.next() * total;
  for (let id = 0; id < logits.length; id += 1) {
    remaining -= weight(id);
    if (remaining < 0) return id;
  }
  return best;
}

/** Log-probability of a token under softmax(logits), in nats. */
export function logprobOf(logits: Float32Array, token: number): number {
  const peak = logits[argmax(logits)] ?? 0;
  let total = 0;
  for (const logit of logits) total += Math.exp(logit - peak);
  return (logits[token] ?? -Infinity) - peak - Math.log(total);
}
