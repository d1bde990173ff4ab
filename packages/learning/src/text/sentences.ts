import { isFunctionWord } from './english/functionWords.js';
import { opensWithGermanMonth } from './germanMonths.js';

/** A part of a text. `text` is exactly the UTF-16 units from `start` to `end`. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

const words = (list: string): readonly string[] => list.split(/\s+/u);

/** Unicode's sentence rules break after every full stop before a capital; these words rarely end a sentence. */
const ofPersons = words('dr mr mrs ms mme mlle sr sra prof st mt rev hon gen col capt lt sgt');
const ofOffices = words('gov sen rep pres');
const persons = new Set(ofPersons);
const titles = new Set([...ofPersons, ...ofOffices, 'al', 'mio']);
/** "Dr. No" and "Gov. Will Hale" are names, though such words carry grammar elsewhere. */
const alsoNames = new Set(words('an do may no so who will'));
/** Something always follows them. */
const neverLast = new Set(words('vs approx e.g i.e cf incl excl bzw ca vgl'));
/** "Sept. 12, 2019". */
const months = new Set(words('Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec'));
/** "No. 5" and "vol. 2". "Was it his? No. 20 people saw it." is an exception, and rarer. */
const beforeNumbers = new Set(
  words('no nos nr fig figs vol vols pp art sec ch eq abb abs kap bd ziff ver rev gen col min max tel ext apt bldg'),
);
/** No initials, and they often end a sentence. */
const oftenLast = new Set(['A.M', 'P.M', 'A.D', 'B.C', 'B.C.E', 'C.E', 'D.C']);

/**
 * "… is `warn`. `tidegate check` exits …": to Unicode, a sentence that begins with a lower-case letter is none. Code
 * is looked for first, so that long white space is not gone over again and again.
 */
const beforeCode = /(?=`[^`\n]+`)(?<=[\p{L}`'"’”)\]%][.!?]\s+)/u;

/**
 * To Unicode, "12 men died there." is no sentence behind another one. A bracket may stand inside a sentence: "20 in.
 * (51 cm) wide". The digit is looked for first, like code.
 */
const beforeDigit = /(?=["“]?\p{Sc}?\d)(?<=[\p{L}\p{N}\p{Sc}%°)\]][.!?]["”')]?\s+)/u;
const opensWithNumber = /^["“]?[\p{Sc}+]?\d/u;
/** "KL-7", "A12". */
const opensWithCode = /^\p{Lu}{1,4}-?\d/u;

/** To Unicode, "..." ends a sentence, and "…" does not. */
const behindEllipsis = /(?=["“‘]?\p{Lu})(?<=…["”’)]?\s+)/u;

/**
 * Splits a text into sentences, with trailing white space. Their texts joined are the text. A lower-case letter
 * continues the sentence before, except on a new line.
 */
export function sentencesOf(text: string): TextRange[] {
  const sentences: TextRange[] = [];
  let [start, end, before] = [0, 0, ''];
  for (const segment of segmentsOf(text)) {
    end += segment.length;
    const rest = text.slice(end);
    const goesOn =
      (start + segment.length === end && isItemNumber(segment, before)) ||
      isOrdinal(segment, rest) ||
      isDate(`${before.slice(-6)}${segment}`, rest) ||
      endsInAbbreviation(segment, rest) ||
      (/^\p{Ll}/u.test(rest) && !segment.endsWith('\n'));
    before = segment;
    if (end < text.length && goesOn) continue;
    sentences.push({ start, end, text: text.slice(start, end) });
    start = end;
  }
  return sentences;
}

function segmentsOf(text: string): string[] {
  return [...sentenceSegmenter.segment(text)]
    .flatMap(({ segment }) => segment.split(beforeCode))
    .flatMap((segment) => segment.split(beforeDigit))
    .flatMap((segment) => segment.split(behindEllipsis));
}

/** "2. " before "Mix the flour.", but not the answer in "How many? 7. The rest left." */
function isItemNumber(segment: string, before: string): boolean {
  if (!/^\s*\d{1,3}\.[ \t]+$/u.test(segment)) return false;
  return before.endsWith('\n') || !before.trimEnd().endsWith('?');
}

/** "3. " before "5. 1990", and "3. 5. " before "1990". */
function isDate(sentence: string, rest: string): boolean {
  return (
    (/\b\d{1,2}\.[ \t]*$/u.test(sentence) && /^\d{1,2}\. ?\d{4}\b/u.test(rest)) ||
    (/\b\d{1,2}\. \d{1,2}\.[ \t]*$/u.test(sentence) && /^\d{4}\b/u.test(rest))
  );
}

/** German words before an ordinal. "I am 12. Anna is 10." is English. */
const articles = 'der|die|das|dem|den|des|im|(?<!\\bI\\s)am|vom|zum|zur|beim';
const ordinal = new RegExp(`(?:^|[\\s("“])(?:${articles})[ \\t]\\d{1,3}\\.[ \\t]*$`, 'iu');
const article = new RegExp(`^(?:${articles})$`, 'iu');

/** "3. " before "Mai", and "Der 2. " before "Weltkrieg". */
function isOrdinal(segment: string, rest: string): boolean {
  if (/(?:^|[\s(])\d{1,2}\.[ \t]*$/u.test(segment) && opensWithGermanMonth(rest)) return true;
  const next = firstWord(rest);
  return /^\p{Lu}/u.test(next) && !article.test(next) && !isFunctionWord(next) && ordinal.test(segment);
}

/**
 * "Dr. ", "z. " before "B.", or "J. " and "U.S. " before a name, with no line break after it. But "It comes in L. The
 * price …" and "… in L. Dr. Silva …" are two sentences. "He left the U.S. Boats …" is taken for one, which happens
 * less often than "the U.S. Army".
 */
function endsInAbbreviation(segment: string, rest: string): boolean {
  const last = /(?:^|[\s(“"'])(\p{L}[\p{L}.]*)\.[ \t]*$/u.exec(segment)?.[1];
  if (last === undefined) return false;
  const lower = last.toLowerCase();
  if (neverLast.has(lower)) return true;
  if (/^[ap]\.m$/u.test(lower) && (opensWithDay.test(rest) || opensWithTimeZone.test(rest))) return true;
  // "20 ms. It stores …" and "5 m. A. Silva …" are two sentences.
  const isUnit = /\d\s*(?:\p{Ll}+|\p{L})\.[ \t]*$/u.test(segment);
  if (opensWithNumber.test(rest)) {
    const isLabel = beforeNumbers.has(lower) || /^\p{L}$/u.test(last);
    return months.has(last) || (isLabel && !isUnit) || isMeasure(segment, rest);
  }
  if (beforeNumbers.has(lower) && !isUnit && opensWithCode.test(rest)) return true;
  if (/^\p{Ll}$/u.test(last) && /^\p{L}\./u.test(rest) && !isUnit) return true;
  const next = firstWord(rest);
  if (titles.has(lower)) return !isUnit && (!isFunctionWord(next) || alsoNames.has(next.toLowerCase()));
  const areInitials = /^\p{Lu}(?:\.\p{Lu})*$/u.test(last) && !oftenLast.has(last);
  if (!areInitials || endsInUnitOfOneLetter.test(segment) || persons.has(next.toLowerCase())) return false;
  return next.length === 1 || !isFunctionWord(next);
}

const monthNames = words('January February March April May June July August September October November December');
const month = `(?:Sept|${monthNames.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|')})\\b`;
/** The day behind "5 p.m.": "Tuesday", "May 3" or "3 May". */
const opensWithDay = new RegExp(
  `^(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\\b|${month}\\.? \\d|\\d{1,2} ${month})`,
  'u',
);

/** "373 K." and "60 W.", but not the initial in "In 1942 W. Kell". */
const endsInUnitOfOneLetter = /(?:^|[^\d.,])(?!(?:1\d|20)\d\d\s)[\d.,]*\d\s?[CFKVW]\.[ \t]*$/u;

const opensWithTimeZone = /^(?:[ECMP][SD]?T|GMT|UTC|BST|CES?T|WES?T|EES?T|IST|JST)\b/u;

/** "5 ft. 3 in." */
function isMeasure(segment: string, rest: string): boolean {
  return /\d ?(?:ft|lbs?|hrs?|min)\.[ \t]*$/u.test(segment) && /^\d{1,2} ?(?:in|oz|min|sec)\b/u.test(rest);
}

function firstWord(text: string): string {
  return /^\p{L}+/u.exec(text)?.[0] ?? '';
}
