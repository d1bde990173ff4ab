import { isFunctionWord } from './english/functionWords.js';

/** A stretch of a text: `text` is exactly the UTF-16 units from `start` to `end`. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Unicode's sentence rules break after every full stop before a capital; these words rarely end a sentence. */
const titles = new Set('dr mr mrs ms prof st rev hon gen col capt lt sgt'.split(' '));
/** "Sept. 12, 2019" and "No. 5"; but "Was it his? No. 20 people saw it." says otherwise, and is rarer. */
const beforeNumbers = new Set('Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec No Nos Nr Fig Vol p pp'.split(' '));
const neverLast = new Set([...titles, ...'mt vs approx e.g i.e cf'.split(' ')]);

/**
 * The sentences of a text, trailing white space included: their texts joined are the text. A lower-case
 * letter goes on with the sentence before, except on a new line.
 */
export function sentencesOf(text: string): Stretch[] {
  const sentences: Stretch[] = [];
  let start = 0;
  for (const { segment, index } of sentenceSegmenter.segment(text)) {
    const end = index + segment.length;
    const goesOn =
      endsInAbbreviation(segment, text.slice(end)) || (/^\p{Ll}/u.test(text.charAt(end)) && !segment.endsWith('\n'));
    if (end < text.length && goesOn) continue;
    sentences.push({ start, end, text: text.slice(start, end) });
    start = end;
  }
  return sentences;
}

/**
 * "Dr. ", or "J. " before a name, and no line break after it. "It comes in L. The price …" and "… in L. Dr. Silva …"
 * are two sentences.
 */
function endsInAbbreviation(segment: string, rest: string): boolean {
  const last = /(?:^|[\s(“"'])(\p{L}[\p{L}.]*)\.[ \t]*$/u.exec(segment)?.[1];
  if (last === undefined) return false;
  if (neverLast.has(last.toLowerCase())) return true;
  if (beforeNumbers.has(last) && /^\d/u.test(rest)) return true;
  const next = /^\p{L}+/u.exec(rest)?.[0] ?? '';
  return /^\p{Lu}$/u.test(last) && !titles.has(next.toLowerCase()) && (next.length === 1 || !isFunctionWord(next));
}
