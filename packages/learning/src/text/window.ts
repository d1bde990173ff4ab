import type { Chunk } from './chunk.js';

/**
 * The teacher's view of one sentence: the sentence itself, the one before it, and the first one of the chunk,
 * which names its subject. The usual mistake of a small teacher is a value from a neighbouring sentence, and it reads
 * these three better than the whole chunk.
 */
export function windowOf(chunk: Chunk | undefined, sentenceStart: number): string {
  if (chunk === undefined) return '';
  const at = chunk.sentences.findIndex(({ start }) => start === sentenceStart);
  if (at < 0) return chunk.text;
  const shown = new Set([0, Math.max(0, at - 1), at]);
  return chunk.sentences
    .filter((_, index) => shown.has(index))
    .map(({ text }) => text)
    .join('');
}

/** Does the same for the sentence that says a fact. */
export function windowOfFact(
  chunks: readonly Chunk[],
  fact: { readonly chunk: number; readonly sentenceStart: number },
): string {
  return windowOf(chunks[fact.chunk], fact.sentenceStart);
}
