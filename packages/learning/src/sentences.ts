/** A stretch of a text: `text` is exactly the UTF-16 units from `start` to `end`. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Unicode's sentence rules break after every full stop before a capital; these words rarely end a sentence. */
const neverLast = new Set('dr mr mrs ms prof st mt rev hon gen col capt lt sgt vs approx e.g i.e cf'.split(' '));

/**
 * The sentences of a text, trailing white space included: their texts joined are the text. A lower-case
 * letter goes on with the sentence before, except on a new line.
 */
export function sentencesOf(text: string): Stretch[] {
  const sentences: Stretch[] = [];
  let start = 0;
  for (const { segment, index } of sentenceSegmenter.segment(text)) {
    const end = index + segment.length;
    const goesOn = endsInAbbreviation(segment) || (/^\p{Ll}/u.test(text.charAt(end)) && !segment.endsWith('\n'));
    if (end < text.length && goesOn) continue;
    sentences.push({ start, end, text: text.slice(start, end) });
    start = end;
  }
  return sentences;
}

/** "Dr. ", "J. ", and no line break after it. */
function endsInAbbreviation(segment: string): boolean {
  const last = /(?:^|[\s(“"'])(\p{L}[\p{L}.]*)\.[ \t]*$/u.exec(segment)?.[1];
  if (last === undefined) return false;
  return /^\p{Lu}$/u.test(last) || neverLast.has(last.toLowerCase());
}
