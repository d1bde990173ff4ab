/** Finds names: runs of capitalised words, except a common word that opens a sentence. */
import { isCommonWord } from '../english/commonWords.js';
import { isFunctionWord, type TextRange } from '@engraft/learning/parts';
import type { Found } from './spans.js';
import { isAdjective, isPluralNoun, isVerb } from '../english/wordClasses.js';
import { auxiliaries, predicateAhead, preposition } from './statement.js';
import { calendarWord } from './valuePatterns.js';

const nameWord = "\\p{Lu}[\\p{L}\\p{N}]*(?:[-'’&][\\p{L}\\p{N}]+)*";
const nameTitle = '(?:(?:Dr|Mr|Mrs|Ms|Prof|St|Mt|Rev|Hon|Gen|Col|Capt|Lt|Sgt|\\p{Lu})\\.\\s?)';
const nameLink = '(?:(?:of|de|da|do|du|la|le|van|von|der|den|del|di|el|al|&)\\s(?:the\\s|la\\s|der\\s)?)?';
const nameRun = new RegExp(
  `(?<![\\p{L}\\p{N}])${nameTitle}*${nameWord}(?:\\s${nameLink}${nameTitle}*${nameWord})*(?:\\s\\d+(?!\\d|\\s(?!(?:${auxiliaries}|has|had|and|or|${preposition})\\b)\\p{Ll}|[.,:%]\\d))?`,
  'gu',
);

export function findNames(sentence: TextRange, passage: string): Found[] {
  const firstLetter = sentence.text.search(/[\p{L}\p{N}]/u);
  const names: Found[] = [];
  if (isInCapitals(sentence.text)) return names;
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
    if (text.length < 2 || !/^[\p{Lu}\p{N}]/u.test(text) || isTitle(text)) continue;
    text += opensSentence ? versionAfter(sentence.text, start, text) : '';
    text += numberAfter(sentence.text, start, text);
    const stripped = start > match.index;
    const after = sentence.text.slice(start + text.length);
    if (opensSentence && !stripped && !/\s/u.test(text) && !isNameAtOpening(text, after, passage)) continue;
    names.push({ kind: 'name', start, text, isSubject: opensSentence && order === '' && crowd === '' });
  }
  return names;
}

/** "PETS ARE NOT ALLOWED IN THE ROOMS.": where all is in capitals, they mark no names. Fewer words may be a name. */
function isInCapitals(text: string): boolean {
  const capitals = text.match(/\p{Lu}/gu)?.length ?? 0;
  const small = text.match(/\p{Ll}/gu)?.length ?? 0;
  return capitals >= 9 * Math.max(small, 1) && (text.match(/\p{L}+/gu)?.length ?? 0) >= 5;
}

/** "SERVICE AGREEMENT", "DOGS ARE WELCOME": words of everyday English, or a statement, in capitals as titles are. */
function isTitle(text: string): boolean {
  const words = text.split(/[\s-]/u);
  if (words.length < 2 || !words.every((word) => /^\p{Lu}+$/u.test(word))) return false;
  return (
    words.some((word) => helperInCapitals.test(word)) || words.every((word) => word.length > 2 && isCommonWord(word))
  );
}

const helperInCapitals = new RegExp(`^(?:${auxiliaries.toUpperCase()}|HAS|HAVE|NOT)$`, 'u');

/** "Customers of " before "Juniper & Rook can": they are not called so. "Friends of Larkwood is" one name. */
function crowdBefore(name: string, after: string): string {
  const [crowd = '', many = ''] = /^(\p{Lu}\p{Ll}+s) of (?=\p{Lu})/u.exec(name) ?? [];
  const isCrowd = [many, many.slice(0, -1)].some(isCommonWord) && !/^ (?:is|was|has)\b/u.test(after);
  return isCrowd ? crowd : '';
}

/** "Call Ines Marder on 555-0142." is an order to call her. */
const imperative =
  /^(?:Ask|Call|Contact|Email|Follow|Join|Mail|Meet|Message|Pay|Phone|See|Send|Tell|Text|Try|Use|Visit|Write) (?=\p{Lu})/u;

/** "The " in "The Lume Lamp", or the whole run if it is only a function word. */
function leadingFunctionWord(run: string): string {
  const word = /^\p{L}+(?=\s|$)/u.exec(run)?.[0] ?? '';
  if (!isFunctionWord(word)) return '';
  return /^[\p{L}]+\s*/u.exec(run)?.[0] ?? '';
}

/**
 * Whether a word that opens its sentence is a name. It has a capital in the middle of another sentence, or capitals
 * only; or it is never in lower case and no common word, and stands alone before a verb ("Velona has …") or anywhere
 * before a version ("Quillpad 4.2").
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

/** "Compass was founded in 1999. Compass has 40 employees.": nobody speaks of a compass, or of dinner, like this. */
function actsAsSomebody(word: string, passage: string): boolean {
  const openings = [...passage.matchAll(new RegExp(`(?:^|[.!?]["”)]? +|\\n)${word}(?= )`, 'gu'))];
  return openings.some(({ index, 0: opening }) => ofSomebody.test(passage.slice(index + opening.length)));
}

/** Verbs for what companies, products and people do or undergo, but the things that common words mean do not. */
const ofSomebody =
  /^ (?:(?:was|is) (?:born|founded|established|launched|headquartered)|employs|has \d[\d,.]* (?:employees|members|customers|users))\b/u;

function containsWordInLowerCase(passage: string, word: string): boolean {
  return passage.split(/[^\p{L}\p{N}]+/u).includes(word.toLowerCase());
}

/**
 * " 4.2" in "Quillpad 4.2 came" at the start of a sentence. "Adults 7.50 euros" and "Monday 9.30" have no version, and
 * give an empty string.
 */
export function versionAfter(text: string, nameStart: number, name: string): string {
  if (!/^\s*(?:The )?$/u.test(text.slice(0, nameStart)) || calendarWord.test(name)) return '';
  const after = text.slice(nameStart + name.length, nameStart + name.length + 40);
  return /^ \d+\.\d+(?!\.?\d|\s?%)(?! (?!(?:is|was|has)\b)(?:\p{Ll}+s|[ap]m|per|percent)\b)/u.exec(after)?.[0] ?? '';
}

/**
 * " 61" in "the Melisande 61 stops here" and "Line 42 runs daily", but not in "At Melisande 12 stops are closed" or
 * "Use 12 drops of it". The verb must have something behind it, since "Melisande 61 seats" counts seats.
 */
export function numberAfter(text: string, nameStart: number, name: string): string {
  const after = text.slice(nameStart + name.length, nameStart + name.length + 40);
  const [, number = '', verb = ''] = verbAhead.exec(after) ?? [];
  if (verb === '' || !isVerb(verb) || isPluralNoun(verb) || calendarWord.test(name)) return '';
  const before = text.slice(Math.max(0, nameStart - 60), nameStart);
  if (inPlace.test(before)) return '';
  const word = name.toLowerCase();
  const opens = /^[\s"“]*$/u.test(before) && !/\s/u.test(name);
  const isLabel = !isVerb(word) && !isPluralNoun(word) && !isAdjective(word) && !isFunctionWord(word);
  return !opens || isLabel ? number : '';
}

const verbAhead = new RegExp(`^( \\d+) (\\p{Ll}{2,}s) (?!(?:and|or|have|had|${auxiliaries})\\b)[\\p{L}\\d]`, 'u');
const inPlace = new RegExp(`(?:^|[^\\p{L}])(?:${preposition}) (?:the )?(?:\\p{Lu}[\\p{L}\\d'’-]* )*$`, 'iu');
