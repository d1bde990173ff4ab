/** Whether a text says something to the model by the order of its words. */
import { mapConcurrently, type MeteredCalls, type ScoreCall } from './calls.js';
import type { Chunk } from './chunk.js';
import { readingPrompt } from './prompts.js';
import { deriveSeed, randomNumbers, shuffled, spreadSample } from './random.js';
import { recipe } from './recipe.js';

/**
 * Nats a token by which the text is likelier than the same words in random order, as the model reads it: 1.3 to 3 of prose, about 0 of words
 * that are in random order already, or of a language that the model does not know. Of such words "facts" could be taught by the rules alone, and
 * answers that repeat them would pass. `null` where there is no money to find out, or too few words for an order.
 */
export async function orderNats(
  calls: MeteredCalls,
  chunks: readonly Chunk[],
  seed: number,
  share: number,
): Promise<number | null> {
  const texts = spreadSample(
    chunks.map(({ text }) => text).filter((text) => wordsOf(text).length >= recipe.orderMinWords),
    recipe.orderChunks,
  );
  const variants = texts.flatMap((text, index) => [text, ...reorderings(text, deriveSeed(seed, 'order', index))]);
  const requests = await mapConcurrently(variants, (text) => reading(calls, text));
  const scores = await calls.score(requests, share);
  const nats = scores.map((score) => (score === null ? null : mean(score.logprobs)));
  const size = 1 + recipe.orderShuffles;
  const gains = texts.flatMap((_, index) => {
    const [given, ...others] = nats.slice(index * size, (index + 1) * size);
    const known = others.filter((one) => one !== null);
    const isWhole = typeof given === 'number' && known.length === others.length;
    return isWhole ? [given - mean(known)] : [];
  });
  return gains.length === 0 ? null : mean(gains);
}

function reorderings(text: string, seed: number): string[] {
  const random = randomNumbers(seed);
  return Array.from({ length: recipe.orderShuffles }, () => shuffled(wordsOf(text), random).join(' '));
}

/** All tokens of the prompt but its first; what stands around the text is the same for each order. */
async function reading(calls: MeteredCalls, text: string): Promise<ScoreCall> {
  const { tokens, targetStart } = await calls.engine.encode(readingPrompt(text, ''), '');
  return { sequence: { tokens: tokens.slice(0, targetStart), targetStart: 1 }, adapter: null, topK: 0 };
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== '');
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
