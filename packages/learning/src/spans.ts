/**
 * Finds what a sentence could be asked for: names, quantities, money, dates, times, codes, quotations, and the noun
 * phrases that end a clause. Pure pattern matching over the text: the same text always gives the same spans.
 */
import { colourWords, shadeWords } from './colours.js';
import { isCommonWord } from './commonWords.js';
import { introducesNounPhrase, isCopula, isFunctionWord } from './functionWords.js';
import type { Stretch } from './sentences.js';
import { auxiliaries, predicateAhead, preposition } from './statement.js';
import { isAdjective, isPluralNoun } from './wordClasses.js';

export type SpanKind = 'date' | 'time' | 'money' | 'quantity' | 'code' | 'quotation' | 'name' | 'phrase';

export interface Span extends Stretch {
  readonly kind: SpanKind;
  /** 0 are values and names, which questions usually ask for; 1 are phrases that end a clause; 2 is the sentence's subject. */
  readonly tier: 0 | 1 | 2;
}

const month = '(?:January|February|March|April|May|June|July|August|September|October|November|December)';
const day = '\\d{1,2}(?:st|nd|rd|th)?';
const weekday = '(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)';
const calendarWord = new RegExp(`^(?:${weekday}|${month})$`, 'u');
const digits = '\\d+(?:,\\d{3})*(?:\\.\\d+)?';
const small =
  '(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-[a-z]+)?|(?:a )?dozen|(?:a )?(?:hundred|thousand|million|billion))';
const magnitude = '(?:\\s(?:hundred|thousand|million|billion|trillion))*';

const hour = `(?:\\d{1,2}|${small})`;
const halfPast = `(?:half past|(?:a )?quarter (?:past|to)|(?:five|ten|twenty) (?:past|to)) ${hour}\\b`;

const ordinal =
  '(?:(?:twenty-|thirty-)?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|(?:ten|eleven|(?:thir|four|fif|six|seven|eigh|nine)teen)th|twelfth|twentieth|thirtieth)';
const oneToTwelve = '(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)';
const clock = `(?:\\d{1,2}(?:[:.]\\d{2})?(?:\\s?[ap]m\\b|\\s?[ap]\\.m\\.)?(?!,?\\d|\\s?[%°€$])|${oneToTwelve}(?: o[’']clock)?(?![\\p{L}\\d-])|half past ${hour}\\b|noon\\b|midnight\\b)`;
const partOfDay = '(?:in the (?:morning|afternoon|evening)|at night)';
/** What tells a time of day from other numbers, somewhere in a range of two. */
const clockMark = `(?=[^.;,]{0,24}(?:[ap]\\.?m\\b|\\d:\\d|o[’']clock|noon|midnight|half past|${partOfDay}))`;
const isMoved =
  '(?<!\\b(?:moved|postponed|shifted|rescheduled|changed|brought forward|put off)(?: \\p{L}+){0,4}? from )';

const fraction =
  '(?:a|one|two|three|four|five|seven|nine) (?:half|halves|thirds?|quarters?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?)';
const isFraction = new RegExp(`^${fraction}$`, 'iu');

const everyUnit =
  '(?:a|an|each|every|per) (?:minute|hour|day|night|week|fortnight|month|quarter|season|term|year|decade)\\b';

/** In order: what an earlier pattern took, a later one leaves alone. */
const patterns: readonly (readonly [SpanKind, RegExp])[] = [
  ['quotation', /[“"]([^\s“”"][^“”"]{0,58}[^\s“”"])[”"]/gu],
  ['code', /(?<![\p{L}\p{N}])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gu],
  ['code', /(?<=`)[^`\n]{2,40}(?=`)|(?<![\p{L}\p{N}])(?:\/[\w.-]+){2,}|\b\p{Ll}\w*_\w+\b/gu],
  ['code', /\bv\d+(?:\.\d+)*\b|(?<![\d.,])\d+(?:\.\d+){2,}(?![\d.]*\d)/gu],
  ['date', new RegExp(`\\b${ordinal} of ${month}(?:,? \\d{4})?\\b`, 'gu')],
  [
    'date',
    new RegExp(
      `\\b(?:${day} (?:of )?${month}(?:,? \\d{4})?|${month} ${day}(?!\\d)(?:,? \\d{4})?|${month} \\d{4}|\\d{4}-\\d{2}-\\d{2}|\\d{1,2}/\\d{1,2}/\\d{2,4})\\b`,
      'gu',
    ),
  ],
  ['date', new RegExp(`${isMoved}\\b${weekday}(?:(?:, (?:and )?| and | or | to |–|-)${weekday})+(?!\\p{L})`, 'gu')],
  [
    'time',
    new RegExp(
      `\\b(?:between ${clockMark}${clock} and|from ${clockMark}${clock} (?:to|until)) ${clock}(?: ${partOfDay}\\b)?`,
      'giu',
    ),
  ],
  [
    'time',
    new RegExp(
      `(?<=\\b(?:at|until|till|by|from|before|after|around|about|past) )(?:\\d{1,2}(?:[:.]\\d{2})?|${oneToTwelve}|half past ${hour}) ${partOfDay}\\b`,
      'giu',
    ),
  ],
  ['time', /\b(?:noon|midnight)\b/gu],
  [
    'time',
    /\b\d{1,2}(?:[:.]\d{2})?\s?(?:[ap]m\b|[ap]\.m\.)|\b\d{1,2}:\d{2}\b|\b\p{L}+ o[’']clock\b|\b\d{1,2} o[’']clock\b/giu,
  ],
  ['time', new RegExp(`\\b${halfPast}`, 'giu')],
  // "Once" alone is mostly a conjunction, and "twice as much" no number of times.
  ['quantity', new RegExp(`\\b(?:once|twice|thrice|(?:${digits}|${small}) times) ${everyUnit}`, 'giu')],
  ['quantity', /\b(?:twice|thrice)\b(?! as\b| the\b| \d)/giu],
  ['date', /\b(?:the )?\d{1,2}(?:st|nd|rd|th) century\b/gu],
  ['quantity', /(?<!from )\b\d+ (?:votes )?(?:to|out of) \d+\b(?!,?\d| \p{Ll})/gu],
  ['quantity', new RegExp(`(?<!and )\\b${fraction}(?= of\\b|[.,;:!?)]|$)`, 'giu')],
  ['money', new RegExp(`[$€£¥₹]\\s?${digits}${magnitude}`, 'gu')],
  ['quantity', new RegExp(`\\b${digits}\\s?(?:%|percent\\b|per cent\\b)`, 'gu')],
  ['code', /\b(?=[\p{L}\d-]*\d)(?=[\p{L}\d-]*\p{Lu})[\p{L}\d]+(?:-[\p{L}\d]+)*\b/gu],
  ['date', /\b(?:1\d{3}|20\d{2})s?\b(?![.,]\d|-)/gu],
  ['date', new RegExp(`\\b(?:${weekday}|${month})\\b`, 'gu')],
  [
    'quantity',
    new RegExp(
      `(?<![\\p{L}\\d])(?:(?<!from )\\d+(?: to |-|–)(?=\\d))?(?:${digits}|${small}(?!\\p{L}))${magnitude}(?:[ -](?:(?:square|cubic|light|metric|nautical|different|new|small|large|big|old|young|full|extra) )?(?:\\p{Ll}|°)[\\p{L}°/²³]*)?`,
      'giu',
    ),
  ],
];

/** "twice", "once a week", "three times": how often. */
export function isFrequency(quantity: string): boolean {
  return /^(?:once|twice|thrice)\b| times\b/iu.test(quantity);
}

const nameWord = "\\p{Lu}[\\p{L}\\p{N}]*(?:[-'’&][\\p{L}\\p{N}]+)*";
const nameTitle = '(?:(?:Dr|Mr|Mrs|Ms|Prof|St|Mt|Rev|Hon|Gen|Col|Capt|Lt|Sgt|\\p{Lu})\\.\\s?)';
const nameLink = '(?:(?:of|de|da|do|du|la|le|van|von|der|den|del|di|el|al|&)\\s(?:the\\s|la\\s|der\\s)?)?';
const nameRun = new RegExp(
  `(?<![\\p{L}\\p{N}])${nameTitle}*${nameWord}(?:\\s${nameLink}${nameTitle}*${nameWord})*(?:\\s\\d+(?!\\d|\\s(?!(?:${auxiliaries}|has|had|and|or|${preposition})\\b)\\p{Ll}|[.,:%]\\d))?`,
  'gu',
);

/** The spans of one sentence, without overlap, in the order of the text; offsets count from the passage's start. */
export function findSpans(sentence: Stretch, passage: string): Span[] {
  const taken: Span[] = [];
  const take = (kind: SpanKind, start: number, text: string, tier: Span['tier']): void => {
    const end = start + text.length;
    if (text.length > 0 && taken.every((span) => end <= span.start || start >= span.end)) {
      taken.push({ kind, start, end, text, tier });
    }
  };
  for (const [kind, pattern] of patterns) {
    for (const match of sentence.text.matchAll(pattern)) {
      const inner = match[1] ?? match[0];
      const text =
        kind === 'quantity' && !isFrequency(inner) && !isFraction.test(inner)
          ? withCounted(withoutFunctionWords(inner), sentence.text.slice(match.index + match[0].indexOf(inner)))
          : inner;
      if ((kind === 'quantity' || kind === 'code') && isPartOfName(sentence.text, match.index, text)) continue;
      if (kind !== 'quantity' || worthAsking(text)) take(kind, match.index + match[0].indexOf(inner), text, 0);
    }
  }
  for (const name of findNames(sentence, passage)) take('name', name.start, name.text, name.tier);
  for (const clause of findSubordinateClauses(sentence.text)) take('phrase', clause.start, clause.text, 1);
  for (const match of sentence.text.matchAll(colourBeforeNoun)) take('phrase', match.index, match[0], 1);
  for (const phrase of findPhrases(sentence, [...taken])) take('phrase', phrase.start, phrase.text, phrase.tier);
  return taken
    .sort((a, b) => a.start - b.start)
    .map((span) => ({ ...span, start: span.start + sentence.start, end: span.end + sentence.start }));
}

/** "12 hours of" → "12 hours": units are content words, but "4 to 8 days" is one quantity. */
function withoutFunctionWords(quantity: string): string {
  const parts = quantity.split(/(?<=[\s-])/u);
  const stop = parts.findIndex(
    (part, index) =>
      index > 0 &&
      /^\p{Ll}/u.test(part) &&
      isFunctionWord(part.replace(/[\s-]+$/u, '')) &&
      !parts.slice(index).some((later) => /^\d/u.test(later)),
  );
  return (stop < 0 ? parts : parts.slice(0, stop)).join('').replace(/[\s-]+$/u, '');
}

/**
 * "nine wooden sledges" rather than "nine wooden": an adjective that is one to the language library, and a plural behind it. `text` begins with
 * the quantity.
 */
function withCounted(quantity: string, text: string): string {
  const adjective = /^\S+ (\p{Ll}{3,})$/u.exec(quantity)?.[1] ?? '';
  const noun = /^ (\p{Ll}{3,}s)\b/u.exec(text.slice(quantity.length))?.[1] ?? '';
  return adjective !== '' && noun !== '' && isAdjective(adjective) && isPluralNoun(noun)
    ? `${quantity} ${noun}`
    : quantity;
}

/**
 * The number of "the Melisande 61 is", "the Kestral Two" or "Quillpad 4.2 came", and "M3" of "the Ibis M3", but not "B12" of "Room B12". Of what
 * is before it only the end is looked at, which is as long as a word may be.
 */
function isPartOfName(text: string, start: number, found: string): boolean {
  const before = text.slice(Math.max(0, start - 40), start);
  if (/\p{Lu}[\p{L}\d]{0,9}-$/u.test(before)) return true;
  const word = /(?<![\p{L}-])\p{L}[\p{L}-]+(?= $)/u.exec(before)?.[0] ?? '';
  const isModel = /^\p{Lu}[\p{L}\d-]*$/u.test(found);
  // "the TX-40" is a thing by its name.
  if (/^the$/iu.test(word)) return isModel && /\d/u.test(found);
  if (!/^\p{Lu}/u.test(word) || isFunctionWord(word)) return false;
  if (/^(?:\d+|\p{Lu}\p{Ll}+)$/u.test(found)) return true;
  return isModel
    ? !isCommonWord(word)
    : versionAfter(text, start - word.length - 1, word).trim() === /^\S+/u.exec(found)?.[0];
}

/** " 4.2" of "Quillpad 4.2 came", where it opens a sentence; "Adults 7.50 euros" and "Monday 9.30" have no versions. Empty where there is none. */
function versionAfter(text: string, nameStart: number, name: string): string {
  if (!/^\s*(?:The )?$/u.test(text.slice(0, nameStart)) || calendarWord.test(name)) return '';
  const after = text.slice(nameStart + name.length, nameStart + name.length + 40);
  return /^ \d+\.\d+(?!\.?\d|\s?%)(?! (?!(?:is|was|has)\b)(?:\p{Ll}+s|[ap]m|per|percent)\b)/u.exec(after)?.[0] ?? '';
}

/** "one" alone is rarely a quantity; "one week" and "one third" are. */
function worthAsking(quantity: string): boolean {
  return (
    isFraction.test(quantity) ||
    !/^one\b(?! (?:second|minute|hour|day|night|week|month|year|decade|percent|per cent)$)/iu.test(quantity)
  );
}

interface Found {
  readonly start: number;
  readonly text: string;
  readonly tier: Span['tier'];
}

function findNames(sentence: Stretch, passage: string): Found[] {
  const firstLetter = sentence.text.search(/[\p{L}\p{N}]/u);
  const names: Found[] = [];
  for (const match of sentence.text.matchAll(nameRun)) {
    let [text] = match;
    let start = match.index;
    const opensSentence = start <= firstLetter;
    const order = opensSentence ? (imperative.exec(text)?.[0] ?? '') : '';
    text = text.slice(order.length);
    start += order.length;
    for (let word = leadingFunctionWord(text); word !== ''; word = leadingFunctionWord(text)) {
      text = text.slice(word.length);
      start += word.length;
    }
    const crowd = opensSentence ? crowdBefore(text, sentence.text.slice(start + text.length)) : '';
    text = text.slice(crowd.length).replace(/['’]s?$/u, '');
    start += crowd.length;
    if (text.length < 2 || !/^[\p{Lu}\p{N}]/u.test(text)) continue;
    text += opensSentence ? versionAfter(sentence.text, start, text) : '';
    const stripped = start > match.index;
    const after = sentence.text.slice(start + text.length);
    if (opensSentence && !stripped && !/\s/u.test(text) && !isNameAtOpening(text, after, passage)) continue;
    names.push({ start, text, tier: opensSentence && order === '' && crowd === '' ? 2 : 0 });
  }
  return names;
}

/** "Customers of " before "Juniper & Rook can": they are not called so. "Friends of Larkwood is" one name. */
function crowdBefore(name: string, after: string): string {
  const [crowd = '', many = ''] = /^(\p{Lu}\p{Ll}+s) of (?=\p{Lu})/u.exec(name) ?? [];
  const isCrowd = [many, many.slice(0, -1)].some(isCommonWord) && !/^ (?:is|was|has)\b/u.test(after);
  return isCrowd ? crowd : '';
}

/** "Call Ines Marder on 555-0142." orders to call her. */
const imperative =
  /^(?:Ask|Call|Contact|Email|Follow|Join|Mail|Meet|Message|Pay|Phone|See|Send|Tell|Text|Try|Use|Visit|Write) (?=\p{Lu})/u;

/** "The " of "The Lume Lamp"; all of a run that is only a function word. */
function leadingFunctionWord(run: string): string {
  const word = /^\p{L}+(?=\s|$)/u.exec(run)?.[0] ?? '';
  if (!isFunctionWord(word)) return '';
  return /^[\p{L}]+\s*/u.exec(run)?.[0] ?? '';
}

/**
 * A name even though it opens its sentence: it has a capital in the middle of another one, or capitals only; or it is never in lower
 * case and no common word, and stands alone before a verb ("Velona has …") or anywhere before a version ("Quillpad 4.2").
 */
function isNameAtOpening(word: string, after: string, passage: string): boolean {
  if (/^\p{Lu}{2,}$/u.test(word)) return true;
  for (let at = passage.indexOf(word); at >= 0; at = passage.indexOf(word, at + 1)) {
    if (/[\p{L}\p{N},;] ["“(]?$/u.test(passage.slice(Math.max(0, at - 3), at))) return true;
  }
  const alone = !word.endsWith('s') && predicateAhead.test(after);
  const hasVersion = (): boolean => new RegExp(`(?<!\\p{L})${word} \\d+\\.\\d`, 'u').test(passage);
  const isNamed = ((alone || hasVersion()) && !isCommonWord(word)) || actsAsSomebody(word, passage);
  return isNamed && !containsWordInLowerCase(passage, word);
}

/** "Compass was founded in 1999. Compass has 40 employees.": nobody speaks so of a compass, nor so of dinner. */
function actsAsSomebody(word: string, passage: string): boolean {
  const openings = [...passage.matchAll(new RegExp(`(?:^|[.!?]["”)]? +|\\n)${word}(?= )`, 'gu'))];
  return openings.some(({ index, 0: opening }) => ofSomebody.test(passage.slice(index + opening.length)));
}

/** What companies, products and people do, or is done with them, and not with things that a common word means. */
const ofSomebody =
  /^ (?:(?:was|is) (?:born|founded|established|launched|headquartered)|employs|has \d[\d,.]* (?:employees|members|customers|users))\b/u;

function containsWordInLowerCase(passage: string, word: string): boolean {
  return passage.split(/[^\p{L}\p{N}]+/u).includes(word.toLowerCase());
}

const colourBeforeNoun = new RegExp(`\\b(?:${shadeWords} )?${colourWords}(?= \\p{Ll})`, 'gu');

/** "shut because [the key was lost]": what "Why …?" or "When …?" asks for. Shorter ones are phrases, longer ones no answer. */
function findSubordinateClauses(text: string): { start: number; text: string }[] {
  return [...text.matchAll(/\b(?:because|since|after|when|if) (?=\p{Ll})([^.,;:!?()“”"]{8,70})(?=[.,;:!?)])/gu)]
    .map(({ index, 0: whole, 1: clause = '' }) => ({ start: index + whole.length - clause.length, text: clause }))
    .filter(({ text: clause }) => /^(?!of )\S+ \S+ \S+/u.test(clause));
}

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });

interface Word {
  readonly start: number;
  readonly end: number;
  readonly role: 'content' | 'function' | 'taken' | 'break';
  readonly text: string;
}

/**
 * Runs of one to four content words that end a clause, after an article, a preposition, a copula, a colon or the like:
 * "opens with a [brass key].", "is [painted green],"; of one or two that a function word follows: "on a [ferry] between";
 * and what stands in a list: "wool, [cotton] and silk". Not the sentence's subject.
 */
function findPhrases(sentence: Stretch, taken: readonly Span[]): Found[] {
  const words = wordsOf(sentence.text, taken);
  const phrases: Found[] = [];
  for (const [index, word] of words.entries()) {
    if (word.role !== 'break' && word.role !== 'function') continue;
    const opening = words.slice(0, index).findLastIndex(({ role }) => role !== 'content');
    const before = words[opening];
    const first = words[opening + 1];
    const count = index - opening - 1;
    if (before === undefined || first === undefined || count < 1 || opening < 1) continue;
    if (count > (word.role === 'break' ? 4 : 2)) continue;
    const isListed = before.text === ',' && /^(?:[,.]?|and|or)$/u.test(word.text);
    const isValue = before.text === ':' && word.role === 'break';
    // "is painted green." ends in what is said; "is made of" does not.
    const isSaid = isCopula(before.text) && word.role === 'break';
    // A noun follows "to" only where the clause ends: "moved to Africa.", but "learned to cook on".
    const isIntroduced = introducesNounPhrase(before.text) && (before.text !== 'to' || word.role === 'break');
    if (!isListed && !isValue && !isSaid && !isIntroduced) continue;
    const phrase = sentence.text.slice(first.start, words[index - 1]?.end);
    // "is painted dark green": the colour is what people ask for.
    // "about smuggling salt": what is done with it is none of it, but "from spring water" it is.
    const doing = before.text === 'about' ? (/^\p{Ll}{3,}ing (?=\p{Ll})/u.exec(phrase)?.[0] ?? '') : '';
    const text = phrase.slice(doing.length).replace(/^(?:painted|coloured|colored) (?=.)/u, '');
    if (text.length > 2) phrases.push({ start: first.start + phrase.length - text.length, text, tier: 1 });
  }
  return phrases;
}

/** The words of a sentence by the part they can play in a phrase; punctuation and the sentence's end break clauses. */
function wordsOf(text: string, taken: readonly Span[]): Word[] {
  const words: Word[] = [];
  for (const { segment, index, isWordLike } of wordSegmenter.segment(text)) {
    const end = index + segment.length;
    if (isWordLike === true) {
      const inSpan = taken.some((span) => index < span.end && end > span.start);
      const role = inSpan ? 'taken' : isFunctionWord(segment) ? 'function' : 'content';
      words.push({ start: index, end, role, text: segment });
    } else if (/^[\p{P}\n]/u.test(segment) && !/^[-'’]$/u.test(segment)) {
      words.push({ start: index, end, role: 'break', text: segment });
    }
  }
  words.push({ start: text.length, end: text.length, role: 'break', text: '' });
  return words;
}
