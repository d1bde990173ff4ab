/**
 * Resolves pronouns if the words before them leave no doubt. A question about the wrong person would teach something
 * false.
 */
import { isCommonWord } from '../english/commonWords.js';
import { containsWords, isPersonName, wordsWithin, type TextRange } from '@engraft/learning/parts';
import type { Span } from './spans.js';
import { openingName, subjectName, type Aliases } from './statement.js';
import { genderOf } from '../english/wordClasses.js';

/** The names that the first word of a sentence or clause may refer to. */
export interface Mentioned {
  /** The last name that opened a sentence, with its article. */
  readonly subject: string | null;
  /** Other names between it and the pronoun, except those of places. */
  readonly others: readonly string[];
  /** The topic of the passage, see `protagonistOf`. */
  readonly protagonist: string | null;
}

const genders = new Map([
  ['he', 'male'],
  ['his', 'male'],
  ['she', 'female'],
  ['her', 'female'],
]);

/**
 * Whom a sentence such as "She moved" means: the last subject, if it could mean nobody else. `null` for "He" after "Ada
 * Kell married Bo Lind."
 */
export function personMeant(text: string, { subject, others, protagonist }: Mentioned): string | null {
  const wanted = genders.get(/^\s*(\p{L}+)/u.exec(text)?.[1]?.toLowerCase() ?? '');
  if (subject === null || wanted === undefined) return subject;
  const isWanted = (name: string): boolean => genderOf(name) === wanted;
  const known = others.filter(isWanted);
  const gender = genderOf(subject);
  if (gender !== null && gender !== wanted) return known.length === 1 ? (known[0] ?? null) : null;
  const possible = gender === null ? others.filter((name) => genderOf(name) === null || isWanted(name)) : known;
  const isProtagonist =
    protagonist !== null && (containsWords(protagonist, subject) || containsWords(subject, protagonist));
  // The passage continues about its topic, but a company may have hired somebody.
  const isSurely = isProtagonist && (gender !== null || known.length === 0 || isCalledAsPeopleAre(protagonist));
  return possible.length === 0 || isSurely ? subject : null;
}

/** Whether "it" cannot mean the name: "Mayor Philippa Osei", but not "Victoria Station". */
export function isSurelyPerson(name: string): boolean {
  return isPersonName(name) && isCalledAsPeopleAre(name);
}

/** True for "Philippa Osei", but not for "Velona" or "Sorrel Park". */
function isCalledAsPeopleAre(name: string): boolean {
  const last = /^\p{Lu}\S*(?: \p{Lu}\S*)? (\p{Lu}[\p{L}'’-]+)$/u.exec(name)?.[1];
  return last !== undefined && !isCommonWord(last);
}

/** The names in a range except its subject, and except those of the place of what it says. */
export function otherNames(range: TextRange, spans: readonly Span[], subject: string | null): string[] {
  return spans
    .filter(({ kind, start }) => {
      const before = range.text.slice(0, Math.max(0, start - range.start));
      return kind === 'name' && !/\b(?:in|at|near|from|to|into|of|on|across|outside|around)(?: the)? $/iu.test(before);
    })
    .map(({ text }) => text)
    .filter((name) => /^\p{Lu}\p{Ll}+(?: |$)/u.test(name) && (subject === null || !containsWords(subject, name)));
}

/** Verbs of people and companies. After them, "it" more likely means what they made. */
const makes =
  /^ (?:founded|established|hired|married|wrote|painted|composed|designed|built|invented|bought|created|discovered|directed)\b/u;

/** Whether "it" can stand for the name that opens a sentence. */
export function mayBeIt(name: string, after: string): boolean {
  return !isPersonName(name) && !makes.test(after);
}

/**
 * The likeliest referent of "it" in the next sentence. It is what this sentence begins with, unless the passage is
 * about a thing and this sentence goes on to speak of it: "Tamsin Works builds the kettle. It costs …" is about the
 * kettle.
 * @param before what "it" stood for in this sentence
 */
export function thingAfter(
  sentence: TextRange,
  spans: readonly Span[],
  { aliases, protagonist }: { readonly aliases: Aliases; readonly protagonist: string | null },
  before: string | null,
): string | null {
  const opening = openingName(spans);
  if (opening === undefined) return before;
  const rest = sentence.text.slice(opening.end - sentence.start);
  const thing = protagonist?.startsWith('the ') === true ? protagonist.slice('the '.length) : null;
  const nouns = [...aliases].flatMap(([noun, name]) => (name === protagonist ? [`the ${noun}`] : []));
  const isSaid = wordsWithin(rest);
  const goesOn = thing !== null && [thing, ...nouns].some(isSaid);
  if (goesOn) return protagonist;
  return mayBeIt(opening.text, rest) ? subjectName(sentence, spans) : null;
}
