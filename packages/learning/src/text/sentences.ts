import { isFunctionWord } from './english/functionWords.js';
import { opensWithGermanMonth } from './germanMonths.js';

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
/** No initials, and they often end a sentence. */
const oftenLast = new Set(['A.M', 'P.M', 'A.D', 'B.C', 'B.C.E', 'C.E', 'D.C']);

/**
 * "… is `warn`. `tidegate check` exits …": to Unicode, a sentence that begins with a lower-case letter is none. Code
 * is looked for first, so that long white space is not gone over again and again.
 */
const beforeCode = /(?=`[^`\n]+`)(?<=[\p{L}`'"’”)\]%][.!?]\s+)/u;

/**
 * Splits a text into sentences, with trailing white space. Their texts joined are the text. A lower-case letter
 * continues the sentence before, except on a new line.
 */
export function sentencesOf(text: string): TextRange[] {
  const sentences: TextRange[] = [];
  let [start, end] = [0, 0];
  for (const segment of segmentsOf(text)) {
    end += segment.length;
    const goesOn =
      endsInAbbreviation(segment, text.slice(end)) || (/^\p{Ll}/u.test(text.charAt(end)) && !segment.endsWith('\n'));
    if (end < text.length && goesOn) continue;
    sentences.push({ start, end, text: text.slice(start, end) });
    start = end;
  }
  return sentences;
}

function segmentsOf(text: string): string[] {
  return [...sentenceSegmenter.segment(text)].flatMap(({ segment }) => segment.split(beforeCode));
}

/**
 * "Dr. ", "3. " before "Mai", "z. " before "B.", or "J. " and "U.S. " before a name, with no line break after it. But
 * "It comes in L. The price …" and "… in L. Dr. Silva …" are two sentences. "He left the U.S. Boats …" is taken for
 * one, which happens less often than "the U.S. Army".
 */
function endsInAbbreviation(segment: string, rest: string): boolean {
  if (/(?:^|[\s(])\d{1,2}\.[ \t]*$/u.test(segment) && opensWithGermanMonth(rest)) return true;
  const last = /(?:^|[\s(“"'])(\p{L}[\p{L}.]*)\.[ \t]*$/u.exec(segment)?.[1];
  if (last === undefined) return false;
  // "5 m. A. Silva …" is two sentences.
  if (/^\p{Ll}$/u.test(last) && /^\p{L}\./u.test(rest) && !/\d\s*\p{Ll}\.[ \t]*$/u.test(segment)) return true;
  if (neverLast.has(last.toLowerCase())) return true;
  if (beforeNumbers.has(last) && /^\d/u.test(rest)) return true;
  const next = /^\p{L}+/u.exec(rest)?.[0] ?? '';
  const areInitials = /^\p{Lu}(?:\.\p{Lu})*$/u.test(last) && !oftenLast.has(last);
  return areInitials && !titles.has(next.toLowerCase()) && (next.length === 1 || !isFunctionWord(next));
}
