import { EngineError } from '../engine.js';
import type { Random } from '../random.js';

/** Chooses the next token from `logits` (one value a token of the vocabulary): the greatest, the first of equals. */
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

/**
 * Draws the next token from softmax(logits / temperature) with one random number, walking the vocabulary in order
 * of ids, so that the same logits and seed give the same token. A temperature of 0 takes the greatest.
 */
export function sample(logits: Float32Array, temperature: number, random: Random): number {
  const best = argmax(logits);
  if (temperature === 0) return best;
  const peak = logits[best] ?? 0;
  // Subtracting the peak first keeps the exponentials in range at any temperature.
  const weight = (id: number): number => Math.exp(((logits[id] ?? -Infinity) - peak) / temperature);
  let total = 0;
  for (let id = 0; id < logits.length; id += 1) total += weight(id);
  let remaining = random.next() * total;
  for (let id = 0; id < logits.length; id += 1) {
    remaining -= weight(id);
    if (remaining < 0) return id;
  }
  return best;
}
