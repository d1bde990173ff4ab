import { isFunctionWord } from './english/functionWords.js';

/** A part of a text. `text` is exactly the UTF-16 units from `start` to `end`. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Unicode's sentence rules break after every full stop before a capital; these words rarely end a sentence. */
const titles = new Set('dr mr mrs ms prof st rev hon gen col capt lt sgt'.split(' '));
/** "Sept. 12, 2019" and "No. 5". "Was it his? No. 20 people saw it." is an exception, and rarer. */
const beforeNumbers = new Set('Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec No Nos Nr Fig Vol p pp'.split(' '));
const neverLast = new Set([...titles, ...'mt vs approx e.g i.e cf bzw ca vgl'.split(' ')]);
/** They may end a sentence, and a name may come next. */
const timesOfDay = new Set(['A.M', 'P.M']);
/** German writes days of a month as ordinals: "3. Mai". Other languages that do so write months small. */
const germanMonths = new Set(
  'Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' '),
);

/**
 * Splits a text into sentences, with trailing white space. Their texts joined are the text. A lower-case letter
 * continues the sentence before, except on a new line.
 */
export function sentencesOf(text: string): TextRange[] {
  const sentences: TextRange[] = [];
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
 * "Dr. ", "3. " before "Mai", "z. " before "B.", or "J. " and "U.S. " before a name, with no line break after it. But
 * "It comes in L. The price …" and "… in L. Dr. Silva …" are two sentences.
 */
function endsInAbbreviation(segment: string, rest: string): boolean {
  const next = /^\p{L}+/u.exec(rest)?.[0] ?? '';
  if (/(?:^|[\s(])\d{1,2}\.[ \t]*$/u.test(segment) && germanMonths.has(next)) return true;
  const last = /(?:^|[\s(“"'])(\p{L}[\p{L}.]*)\.[ \t]*$/u.exec(segment)?.[1];
  if (last === undefined) return false;
  if (/^\p{Ll}$/u.test(last)) return true;
  if (neverLast.has(last.toLowerCase())) return true;
  if (beforeNumbers.has(last) && /^\d/u.test(rest)) return true;
  const areInitials = /^\p{Lu}(?:\.\p{Lu})*$/u.test(last) && !timesOfDay.has(last);
  return areInitials && !titles.has(next.toLowerCase()) && (next.length === 1 || !isFunctionWord(next));
}
