/**
 * Answers that are sentences of the passage. A weak teacher often asks a question that its value does not answer ("When
 * was the album released?", of the year of an award), but the question is nearly always about the right sentence. So a
 * small model learns more if the sentence is the answer, and what it then says stands in the passage.
 */
import { containsWords, wordTokens } from './normalise.js';

/** UTF-16 units. A longer sentence is learned in parts, since a small model mixes up the ends of long ones. */
const maxWholeChars = 240;
const partChars = 200;

/** A chunk, or any other list of sentences. */
interface Sentences {
  readonly sentences: readonly { readonly text: string }[];
}

/** The passage's sentences that give the answer, each on one line; of a long sentence, the parts that give it. */
export function sentencesWith(answer: string, chunks: readonly Sentences[]): string[] {
  return chunks
    .flatMap(({ sentences }) => sentences)
    .filter(({ text }) => containsWords(text, answer))
    .flatMap(({ text }) => partsWith(answer, text));
}

/** The whole sentence if no part has all of the answer. */
function partsWith(answer: string, sentence: string): string[] {
  const parts = learnedParts(sentence).filter((part) => containsWords(part, answer));
  return parts.length > 0 ? parts : [onOneLine(sentence)];
}

/** The sentence on one line, or the parts in which a long one is learned. */
export function learnedParts(sentence: string): string[] {
  const line = onOneLine(sentence);
  return line.length <= maxWholeChars ? [line] : partsOf(line);
}

function onOneLine(sentence: string): string {
  return sentence.replace(/\s+/gu, ' ').trim();
}

/** Parts of about equal length, which end where the sentence pauses. */
function partsOf(sentence: string): string[] {
  const count = Math.ceil(sentence.length / partChars);
  const wantedChars = sentence.length / count;
  const parts: string[] = [''];
  for (const phrase of sentence.split(pause)) {
    const last = parts.at(-1) ?? '';
    const isFull = last !== '' && last.length + phrase.length / 2 > wantedChars;
    if (isFull && parts.length < count) parts.push(phrase);
    else parts[parts.length - 1] = last + phrase;
  }
  return parts.map((part) => part.trim().replace(/[,;:，、；：]$/u, ''));
}

/** Behind a comma and its like, before a dash or a bracket. A comma in a number is none. */
const pause = /(?<=[,;:]\s)|(?<=[，、；：])|(?<=\s)(?=[–—(])/u;

/** The sentence that shares most words with the question, the first of several; `null` of none. */
export function sentenceFor(question: string, sentences: readonly string[]): string | null {
  const asked = new Set(wordTokens(question));
  const shared = (sentence: string): number => wordTokens(sentence).filter((word) => asked.has(word)).length;
  const [best = null] = [...sentences].sort((a, b) => shared(b) - shared(a));
  return best;
}
