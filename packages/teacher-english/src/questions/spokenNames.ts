/** The names by which people ask for a thing of a table or a list. */
import { copulaOf, isPersonName } from '@engraft/learning/parts';
import { articleOf } from '../english/articles.js';
import { isCommonWord } from '../english/commonWords.js';
import { kindsOf } from '../english/kinds.js';

/**
 * The thing as written, then other names that people use: for "the olive oil, extra virgin" also "the olive oil", for
 * "the door handle KX-117" either part, for "Venta R9 Dehumidifier" also "the Venta R9" or "the dehumidifier", for
 * "Birch" also "the room Birch", and for "Gym" also "the gym". A name that two things share asks for neither.
 */
export function spokenNames(thing: string, kindOfThing: string | null): string[] {
  if (kindOfThing !== null && /^\p{Lu}/u.test(thing)) return [thing, `the ${kindOfThing} ${thing}`];
  if (isNoun(thing)) return [thing, `the ${inLowerCase(thing)}`];
  const [, document] = /^(\p{Lu}\p{Ll}+) (?:No\.?|Nr\.?|number|#) ?\S+$/u.exec(thing) ?? [];
  if (document !== undefined) return [thing, `the ${inLowerCase(document)}`];
  const [, version] = /^(?:version|release) (\d\S*)$/u.exec(thing) ?? [];
  if (version !== undefined)
    return [thing, version, ...(kindOfThing === null ? [] : [`${kindOfThing} ${version}`]), `v${version}`];
  const [, noun, quality] = /^([^,]{3,}), (.+)$/u.exec(thing) ?? [];
  if (noun !== undefined && quality !== undefined) return [thing, noun, ...qualified(noun, quality)];
  const [, named, code] = /^(the \p{Ll}.*|\p{Lu}\p{L}+(?: \p{L}+)*) ((?=\S*\d)\S*[\p{Lu}-]\S*)$/u.exec(thing) ?? [];
  if (named !== undefined && code !== undefined) return [thing, named, code];
  const [, model, kind] = /^(?:the )?(\p{Lu}.*\d\S*) (\p{L}[\p{L} -]+)$/u.exec(thing) ?? [];
  if (model !== undefined && kind !== undefined) return [thing, `the ${model}`, `the ${kind.toLowerCase()}`];
  return [thing, ...kindInName(thing)];
}

/** "the lease" of "Residential Lease", "the desk" of "Arbor Standing Desk 2": names that end in what they name. */
function kindInName(name: string): string[] {
  const [, last] = /^(?:\p{Lu}[\p{L}'’-]* )+(\p{Lu}\p{Ll}{2,})(?: \d+)?$/u.exec(name) ?? [];
  return last === undefined || isPersonName(name) || !isKnownWord(last.toLowerCase())
    ? []
    : [`the ${last.toLowerCase()}`];
}

/** "the grey soup bowl" of "the soup bowl, grey". */
function qualified(noun: string, quality: string): string[] {
  const isShort = /^\p{Ll}+(?: \p{Ll}+)?$/u.test(quality);
  return isShort && noun.startsWith('the ') ? [`the ${quality} ${noun.slice('the '.length)}`] : [];
}

/**
 * Names of a row, the whole first: for "P5 Budget" below "Car park" also "P5", "the car park P5" and "the budget car
 * park", for "Small (3 m²)" also "a small", for "Adult" only "an adult".
 */
export function rowNames(row: string, noun: string | null): string[] {
  const plain = row.replace(/^the /u, '');
  const [, code, words] = /^((?=\S*\d)[\p{Lu}\d]\S{0,3}|\p{Lu}) (\p{L}{3,}(?: \p{L}+)*)$/u.exec(plain) ?? [];
  // "2 Adults" counts.
  const isCode = code !== undefined && (/\p{L}/u.test(code) || copulaOf(words ?? '') === 'is');
  if (isCode && words !== undefined) {
    const described = noun === null ? [words] : [`the ${inLowerCase(words)} ${noun}`, words];
    return [row, code, ...described, ...(noun === null ? [] : [`the ${noun} ${code}`])];
  }
  const [, named] = /^(\p{L}[\p{L} -]+) \([^()]+\)$/u.exec(plain) ?? [];
  if (named !== undefined) return [row, ...rowNames(named, noun)];
  const one = oneOf(row);
  return noun === null || one === row || noun === inLowerCase(plain)
    ? [one]
    : [one, `the ${inLowerCase(plain)} ${noun}`];
}

/** The names that nothing else has. If other things have each of them, the first one. */
export function unshared(names: readonly string[], others: readonly string[]): string[] {
  const taken = new Set(others.map(plainName));
  const own = names.filter((name) => !taken.has(plainName(name)));
  return own.length > 0 ? own : names.slice(0, 1);
}

function plainName(name: string): string {
  return name.replace(/^(?:the|an?) /u, '').toLowerCase();
}

/** "low season" says when, and nobody buys one. */
export function isPeriod(column: string): boolean {
  return /\b(?:season|period|(?:peak|day|night)[ -]?time)$/u.test(column);
}

/** Names of a column: for "1 week" also "one week" and "a week", for "return" "a return". */
export function columnNames(column: string): string[] {
  const [, count = '', unit = ''] = /^(\d{1,2}) (\p{Ll}+)$/u.exec(column) ?? [];
  const word = numberWords[Number(count)];
  if (count !== '' && word !== undefined) {
    return [column, ...(count === '1' ? [`${articleOf(unit)} ${unit}`] : []), `${word} ${unit}`];
  }
  if (isPeriod(column)) return [`the ${column}`];
  const isNamed = /^[\p{N}\p{Lu}]/u.test(column) || copulaOf(column) === 'are';
  return [isNamed ? column : `${articleOf(column)} ${column}`];
}

const numberWords = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** "an adult" of the row "Adult", "the night bus" of what is named so already; a name stays as it is. */
export function oneOf(thing: string): string {
  const noun = thing.replace(/^the /u, '');
  if (!isNoun(noun)) return thing;
  const plain = inLowerCase(noun);
  return copulaOf(plain) === 'are' ? plain : `${articleOf(plain)} ${plain}`;
}

/** Words of everyday English, of which only the first may have a capital: that of its cell. */
export function isNoun(label: string): boolean {
  if (label.startsWith('the ')) return false;
  const words = inLowerCase(label).split(/[ -]/u);
  return words.every((word) => /^\p{Ll}+$/u.test(word)) && isKnownWord(words.at(-1) ?? '');
}

/** A word of everyday English, in lower case. */
export function isKnownWord(word: string): boolean {
  return isCommonWord(word) || kindsOf(word).length > 0;
}

/** Without the capital of a cell; that of "USB ports" is another. */
export function inLowerCase(label: string): string {
  return label.replace(/^\p{Lu}(?=\p{Ll})/u, (first) => first.toLowerCase());
}
