import type { Chunk } from './chunk.js';

/**
 * What the teacher reads for one sentence: that sentence, the one before it, and the one that opens the chunk and
 * names its subject. A small teacher's usual mistake is a value of a neighbouring sentence; it reads these three
 * better than the whole chunk.
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

/** The same for the sentence that says a fact. */
export function windowOfFact(
  chunks: readonly Chunk[],
  fact: { readonly chunk: number; readonly sentenceStart: number },
): string {
  return windowOf(chunks[fact.chunk], fact.sentenceStart);
}
