import { escapeForPattern, isFunctionWord, isPersonName, type TextRange } from '@engraft/learning/parts';
import { isTime } from '../english/grammar.js';
import type { Span } from './spans.js';
import { irregularPasts } from '../english/verbs.js';

export const auxiliaries = 'is|are|was|were|can|could|will|would|must|may|might|should';
const helper = `(?:${auxiliaries}|has|had|have)`;
const determiner = '(?:The|A|An|One|Our|My|His|Her|Its|Their|Every|Each|This|That)';
export const finiteVerb = `(?:\\p{Ll}+(?:s|ed)|${[...irregularPasts.keys()].join('|')})`;
export const preposition = '(?:in|on|at|by|of|for|from|to|with|about)';
const afterVerb = `(?:\\p{N}|\\p{Lu}|[$€£]|(?:an?|the|it|itself|himself|herself|themselves|him|her|them|his|its|their|only|about|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|every|after|until|${preposition}) )`;

/** A verb, and what may follow one: "weighs 1.2 …", "is …", but not "requests must …". */
export const predicateAhead = new RegExp(`^ (?:(?:${auxiliaries}) |${finiteVerb} ${afterVerb})`, 'u');

/**
 * Common nouns as subjects, by what follows them: "The library of Varn" lends, "The captain of the Grey Heron" is, "The
 * battery" lasts 12, "Lessons" start at.
 */
const commonSubject = new RegExp(
  [
    // "A lamp costs $79 and is changed" is about the lamp.
    `^${determiner} (?:[\\p{L}-]+ ){0,3}?[\\p{L}-]+(?= (?:costs|weighs|lasts|takes|holds|measures|seats|needs|uses) (?:[$€£]|\\p{N}))`,
    `^${determiner} (?:(?! ${helper} )[^,;:]){1,50}? of (?:the )?\\p{Lu}[\\p{L}'’-]*(?: \\p{Lu}[\\p{L}'’-]*)*(?= ${finiteVerb} (?!${helper} ))`,
    `^${determiner} [^,;:]{1,60}?(?= (?:${auxiliaries}) )`,
    `^${determiner} [^,;:]{1,60}?(?= ${finiteVerb} ${afterVerb})`,
    `^\\p{Lu}\\p{Ll}+(?: \\p{Ll}+){0,3}?(?= (?:${auxiliaries}) )`,
    `^\\p{Lu}\\p{Ll}+s(?= \\p{Ll}+ (?:${preposition} |[$€£]?\\d))`,
  ].join('|'),
  'u',
);

/** A sentence split into its subject, with a pronoun resolved if possible, and its predicate. */
export interface Statement {
  readonly subject: string;
  /** Start of the predicate, in UTF-16 units from the start of the sentence. */
  readonly predicateStart: number;
}

/** `null` for an unknown kind of sentence. `antecedent` is what a pronoun most likely stands for. */
export function takeStatementApart(
  sentence: TextRange,
  spans: readonly Span[],
  antecedent: string | null,
): Statement | null {
  const { text } = sentence;
  const pronoun = /^(?:It|He|She|They) (?=\p{Ll})/u.exec(text)?.[0];
  if (pronoun !== undefined)
    return antecedent === null ? null : { subject: antecedent, predicateStart: pronoun.length };
  const name = subjectName(sentence, spans);
  const nameEnd = (openingName(spans)?.end ?? 0) - sentence.start;
  const ofName = name === null ? null : { subject: name, predicateStart: nameEnd + 1 };
  if (predicateAhead.test(text.slice(nameEnd))) return ofName;
  const common = commonSubject.exec(text)?.[0];
  if (common === undefined) return /^ \p{Ll}/u.test(text.slice(nameEnd)) ? ofName : null;
  const predicateStart = common.length + 1;
  // In "The display now turns" the adverb belongs to neither part.
  const subject = common.replace(/ (?:now|still|also|always|often|usually)$/u, '');
  const possessive = /^(?:Its|His|Her|Their) /u;
  if (possessive.test(subject)) {
    return antecedent === null ? null : { subject: subject.replace(possessive, `${antecedent}'s `), predicateStart };
  }
  return { subject: subject.charAt(0).toLowerCase() + subject.slice(1), predicateStart };
}

/** The name that opens a sentence. */
export function openingName(spans: readonly Span[]): Span | undefined {
  return spans.find((span) => span.kind === 'name' && span.isSubject);
}

/** The name that opens a sentence, with its article. "It" or "she" in the next sentences most likely stands for it. */
export function subjectName(sentence: TextRange, spans: readonly Span[]): string | null {
  const name = openingName(spans);
  if (name === undefined) return null;
  const article = /^\s*The $/u.test(sentence.text.slice(0, name.start - sentence.start));
  return article ? `the ${name.text}` : name.text;
}

/**
 * The name that a passage mentions most often, with its article. Its noun counts as a mention. A mention in the first
 * sentence counts twice, and three times if the passage begins with it. A tie goes to the name that the passage
 * introduces (`standing`), or else to the first one. `null` if the passage names nothing.
 */
export function protagonistOf(passage: string, names: readonly string[]): string | null {
  const opening = /^[^.]*/u.exec(passage)?.[0] ?? '';
  const count = (text: string): number => passage.split(text).length - 1;
  // A life leads through places, and is about none of them.
  const isLife = /\b(?:he|she)\b/iu.test(passage);
  const visits = (name: string): number =>
    isLife && !isPersonName(name)
      ? [...passage.matchAll(new RegExp(`${placed}${escapeForPattern(name)}`, 'gu'))].length
      : 0;
  // "The kettle" also mentions the Brindle Kettle.
  const noun = (name: string): string => `he ${/\S+$/u.exec(name)?.[0].toLowerCase() ?? ''} `;
  const beginning = opening.replace(/^\s*(?:The )?/u, '');
  const mentions = (name: string): number =>
    count(name) -
    visits(name) +
    count(noun(name)) +
    (opening.includes(name) ? 1 : 0) +
    (beginning.startsWith(name) ? 1 : 0);
  const goesOn = goesOnWith(passage);
  const weights = [...new Set(names)].map((name) => mentions(name) + standing(name, opening, goesOn) / 10);
  const best = [...new Set(names)][weights.indexOf(Math.max(...weights))];
  if (best === undefined) return null;
  const full = fullNamesOf(names).get(best);
  if (full !== undefined) return full;
  return new RegExp(`\\b[Tt]he ${escapeForPattern(best)}`, 'u').test(passage) ? `the ${best}` : best;
}

/** The words before the name of a place where something happens. */
const placed = '\\b(?:[Ii]n|[Aa]t|[Nn]ear|[Ff]rom|[Tt]o|[Ii]nto|[Oo]ff|[Aa]cross)(?: the)? ';

/** "She moved" and "In 1890 she moved" in the second sentence. */
const goesOnWithPerson = new RegExp(
  '^[^.!?]*[.!?]["”)]?\\s+' +
    '(?:(?:In|At|On|From|After|Since|For|There|Then|Later|Soon)\\b[^.!?,]{0,30},? ?)?' +
    '\\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er)\\b',
  'u',
);

/**
 * The topic of the sentences after the first one: "He" or "She" in the second means a person, "It" in any and no
 * person means a thing.
 */
function goesOnWith(passage: string): 'person' | 'thing' | null {
  if (goesOnWithPerson.test(passage)) return 'person';
  return /[.!?] (?:It|Its)\b/u.test(passage) && !/\b(?:he|she)\b/iu.test(passage) ? 'thing' : null;
}

/**
 * How likely the first sentence introduces a name, from -1 to 2. A place or a thing scores less if the passage goes on
 * with a person. A name after "called" scores more, and so does one such as "the Petrel Shell" if the passage goes on
 * with a thing.
 */
function standing(name: string, opening: string, goesOn: ReturnType<typeof goesOnWith>): number {
  const at = Math.max(0, opening.indexOf(name));
  const before = opening.slice(Math.max(0, at - 40), at);
  const isPlaceOrThing = /\b(?:(?:in|near|from|to|across|into|at|off)(?: the)?|[Tt]he) $/u.test(before);
  const isThing = /\bthe $/u.test(before);
  const isCalled = /\b(?:called|named) (?:the )?$/u.test(before);
  return (
    (goesOn === 'person' && isPlaceOrThing ? -1 : 0) + (goesOn === 'thing' && isThing ? 1 : 0) + (isCalled ? 1 : 0)
  );
}

/**
 * Other things that the first sentence speaks of, which people may ask about too. "Tram type C of the city of Veldhaven
 * replaces type B." gives "tram type C"; "Update 11 for the robot vacuum Dusty Otto was sent out." gives "Update 11"
 * and "Dusty Otto".
 */
export function introducedBy(first: TextRange, spans: readonly Span[]): string[] {
  const names = spans.filter(({ kind }) => kind === 'name' || kind === 'code').map(({ text }) => text);
  const head = openingPhrase(first.text, names);
  return (head === null || names.includes(head) ? names : [head, ...names]).slice(0, maxIntroduced);
}

/** A list of a hundred names introduces none of them. */
const maxIntroduced = 8;

/** Up to four words before the first preposition or copula. The last word has a capital or a digit. */
function openingPhrase(text: string, names: readonly string[]): string | null {
  const pattern =
    /^\s*(The |An? )?((?:[\p{L}\p{N}-]+ ){1,3}[\p{L}\p{N}-]*[\p{Lu}\p{N}][\p{L}\p{N}-]*) (?:of|for|in|at|is|was|has|are|were|from|by)\b/u;
  const [, article, phrase = ''] = pattern.exec(text) ?? [];
  if (phrase === '' || isFunctionWord(/^\S+/u.exec(phrase)?.[0] ?? '')) return null;
  // After an article, a capital belongs to a name; at the start of a sentence, every word has one.
  const isNamed = article !== undefined || names.some((name) => phrase.startsWith(name));
  return isNamed ? phrase : phrase.charAt(0).toLowerCase() + phrase.slice(1);
}

/**
 * Whole names by last name. "Osei" is "Philippa Osei" if the passage has named her so, and people ask with the whole
 * name.
 */
export type FullNames = ReadonlyMap<string, string>;

export function fullNamesOf(names: readonly string[]): FullNames {
  const result = new Map<string, string>();
  const single = new Set(names.filter((name) => !/\s/u.test(name)));
  for (const name of names) {
    const last = /^\p{Lu}[\p{L}.'’-]+ (\p{Lu}\S+)$/u.exec(name)?.[1];
    if (last !== undefined && single.has(last) && !result.has(last)) result.set(last, name);
  }
  return result;
}

/** The text with each name in full. */
export function withFullNames(text: string, fullNames: FullNames): string {
  let result = text;
  for (const [name, full] of fullNames) {
    const before = full.slice(0, -name.length);
    // A text contains few of a passage's names, and making a pattern takes longer than searching.
    if (!result.includes(name)) continue;
    const word = new RegExp(`(?<![\\p{L}\\p{N}])${escapeForPattern(name)}(?![\\p{L}\\p{N}])`, 'gu');
    result = result.replace(word, (found, at: number) => (result.slice(0, at).endsWith(before) ? found : full));
  }
  return result;
}

/**
 * Without its passage, "the frame" could be any frame, so it becomes "the frame of the Lume Lamp", unless the noun
 * itself stands for a name.
 */
export function qualified(subject: string, protagonist: string | null, aliases: Aliases): string {
  const noun = /^(?:the|an?|its|his|her|their|our) (?:\p{Ll}+ )*?(\p{Ll}+)$/u.exec(subject)?.[1];
  if (noun === undefined || protagonist === null || aliases.has(noun)) return subject;
  return `the ${subject.replace(/^\S+ /u, '')} of ${protagonist}`;
}

/**
 * The names that common nouns stand for: "the park" after "Sorrel Park", "the ship" after "The Grey Heron is a research
 * ship".
 */
export type Aliases = ReadonlyMap<string, string>;

/** Adds the aliases of a sentence to those before it. The first bearer of a noun keeps it. */
export function withAliases(aliases: Aliases, sentence: TextRange, spans: readonly Span[]): Aliases {
  const result = new Map(aliases);
  const add = (noun: string | undefined, name: string): void => {
    const key = noun?.toLowerCase();
    if (key !== undefined && !isFunctionWord(key) && !result.has(key)) result.set(key, name);
  };
  for (const span of spans) {
    if (span.kind !== 'name') continue;
    const before = sentence.text.slice(0, span.start - sentence.start);
    const after = sentence.text.slice(span.end - sentence.start);
    const name = /\b[Tt]he $/u.test(before) ? `the ${span.text}` : span.text;
    add(/^\S+(?: \S+)* (\p{L}+)$/u.exec(span.text)?.[1], name);
    add(/(\p{Ll}+) (?:called|named) (?:the )?$/u.exec(before)?.[1], name);
    add(appositionBefore(before, after), name);
    if (span.isSubject)
      add(
        /^ (?:is|was) an? (?:[\p{L}-]+ ){0,2}?(\p{Ll}+)(?= (?:in|of|on|at|from|made|with|that|which|who|near|by|and)\b|[.,])/u.exec(
          after,
        )?.[1],
        name,
      );
  }
  return result;
}

/** " built is" after "the house Ada". */
const reducedRelative = new RegExp(`^ \\p{Ll}+ ${helper} `, 'u');

/**
 * The noun before a name in "the restaurant " or "the online game ", which stands for the name. "the house Ada built
 * is" has none.
 */
function appositionBefore(before: string, after: string): string | undefined {
  const words = /\b[Tt]he ((?:\p{Ll}[\p{Ll}-]* ){1,3})$/u.exec(before)?.[1]?.trim().split(' ') ?? [];
  return reducedRelative.test(after) || words.some((word) => isFunctionWord(word) || isTime(word))
    ? undefined
    : words.at(-1);
}

/** Without its passage, "the park" could be any park. */
export function withoutAliases(question: string, aliases: Aliases): string {
  return question.replace(/\bthe (\p{Ll}+)\b(?! of\b)/gu, (noun: string, word: string) => aliases.get(word) ?? noun);
}
