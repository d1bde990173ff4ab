/** The names by which people ask for a thing of a table or a list. */
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
  if (version !== undefined) return [thing, version];
  const [, noun, quality] = /^([^,]{3,}), (.+)$/u.exec(thing) ?? [];
  if (noun !== undefined && quality !== undefined) return [thing, noun, ...qualified(noun, quality)];
  const [, named, code] = /^(the \p{Ll}.*|\p{Lu}\p{L}+(?: \p{L}+)*) ((?=\S*\d)\S*[\p{Lu}-]\S*)$/u.exec(thing) ?? [];
  if (named !== undefined && code !== undefined) return [thing, named, code];
  const [, model, kind] = /^(?:the )?(\p{Lu}.*\d\S*) (\p{L}[\p{L} -]+)$/u.exec(thing) ?? [];
  return model === undefined || kind === undefined ? [thing] : [thing, `the ${model}`, `the ${kind.toLowerCase()}`];
}

/** "the grey soup bowl" of "the soup bowl, grey". */
function qualified(noun: string, quality: string): string[] {
  const isShort = /^\p{Ll}+(?: \p{Ll}+)?$/u.test(quality);
  return isShort && noun.startsWith('the ') ? [`the ${quality} ${noun.slice('the '.length)}`] : [];
}

/** "an adult" of the row "Adult", "the night bus" of what is named so already; a name stays as it is. */
export function oneOf(thing: string): string {
  const noun = thing.replace(/^the /u, '');
  if (!isNoun(noun)) return thing;
  const plain = inLowerCase(noun);
  if (/[^s]s$/u.test(plain)) return plain;
  return `${/^[aeiou]/u.test(plain) ? 'an' : 'a'} ${plain}`;
}

/** Words of everyday English, of which only the first may have a capital: that of its cell. */
export function isNoun(label: string): boolean {
  if (label.startsWith('the ')) return false;
  const words = inLowerCase(label).split(/[ -]/u);
  return words.every((word) => /^\p{Ll}+$/u.test(word)) && isKnown(words.at(-1) ?? '');
}

function isKnown(word: string): boolean {
  return isCommonWord(word) || kindsOf(word).length > 0;
}

/** Without the capital of a cell; that of "USB ports" is another. */
export function inLowerCase(label: string): string {
  return label.replace(/^\p{Lu}(?=\p{Ll})/u, (first) => first.toLowerCase());
}
