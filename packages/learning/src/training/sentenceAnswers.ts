/**
 * Answers that are sentences of the passage. A weak teacher asks much that is not quite true of its answer ("When was
 * the album released?", of the year of an award), but nearly always about the right sentence. So a small model learns
 * more from which sentence answers than from which value does, and what it says stands in the passage.
 */
import type { Chunk } from '../text/chunk.js';
import { containsWords, wordTokens } from '../text/normalise.js';

/** UTF-16 units. A longer sentence does not fit into `maxAnswerTokens` of a recipe for sentences, and would be cut. */
const maxSentenceChars = 280;

/** The passage's sentences that give the answer, each on one line; none that is too long to be an answer. */
export function sentencesWith(answer: string, chunks: readonly Chunk[]): string[] {
  return chunks
    .flatMap(({ sentences }) => sentences)
    .filter(({ text }) => containsWords(text, answer))
    .map(({ text }) => text.replace(/\s+/gu, ' ').trim())
    .filter(({ length }) => length <= maxSentenceChars);
}

/** The sentence that shares most words with the question, the first of several; `null` of none. */
export function sentenceFor(question: string, sentences: readonly string[]): string | null {
  const asked = new Set(wordTokens(question));
  const shared = (sentence: string): number => wordTokens(sentence).filter((word) => asked.has(word)).length;
  const [best = null] = [...sentences].sort((a, b) => shared(b) - shared(a));
  return best;
}
