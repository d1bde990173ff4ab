import { sentencesOf, type TextRange } from './sentences.js';

/**
 * A part of the passage that the teacher reads at once, with its sentences. Offsets count from the start of the
 * passage.
 */
export interface Chunk extends TextRange {
  readonly sentences: readonly TextRange[];
}

/** The sentences that say something. A blank line counts as a sentence of its own. */
export function saidSentences({ sentences }: Pick<Chunk, 'sentences'>): TextRange[] {
  return sentences.filter(({ text }) => text.trim() !== '');
}

/**
 * Splits a passage at sentence boundaries into chunks of similar length, of at most `maxChars` UTF-16 units. Their
 * texts joined are the passage. A longer sentence is split at spaces, or anywhere if it has none.
 */
export function chunkPassage(passage: string, maxChars: number): Chunk[] {
  const sentences = sentencesOf(passage).flatMap((sentence) => splitLong(sentence, maxChars));
  const wanted = Math.ceil(passage.length / maxChars);
  const targetChars = passage.length / Math.max(wanted, 1);
  const groups: TextRange[][] = [];
  let length = 0;
  for (const sentence of sentences) {
    const group = groups.at(-1);
    if (group === undefined || length + sentence.text.length > maxChars || length >= targetChars) {
      groups.push([sentence]);
      length = sentence.text.length;
    } else {
      group.push(sentence);
      length += sentence.text.length;
    }
  }
  return groups.map((group) => chunkOf(passage, group));
}

function chunkOf(passage: string, sentences: readonly TextRange[]): Chunk {
  const start = sentences[0]?.start ?? 0;
  const end = sentences.at(-1)?.end ?? start;
  return { start, end, text: passage.slice(start, end), sentences };
}

function splitLong(sentence: TextRange, maxChars: number): TextRange[] {
  const parts: TextRange[] = [];
  let from = 0;
  while (sentence.text.length - from > maxChars) {
    const space = sentence.text.lastIndexOf(' ', from + maxChars - 1);
    const to = space > from ? space + 1 : wholeCharacters(sentence.text, from + maxChars);
    parts.push(rangeOf(sentence, from, to));
    from = to;
  }
  parts.push(rangeOf(sentence, from, sentence.text.length));
  return parts;
}

function rangeOf(sentence: TextRange, from: number, to: number): TextRange {
  return { start: sentence.start + from, end: sentence.start + to, text: sentence.text.slice(from, to) };
}

/** Never cuts a surrogate pair in two. */
function wholeCharacters(text: string, to: number): number {
  return /[\uD800-\uDBFF]/u.test(text.charAt(to - 1)) && to > 1 ? to - 1 : to;
}
