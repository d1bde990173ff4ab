/** Characters that nobody sees: controls, formatting, and joiners where nothing is joined. */
import { stripVTControlCharacters } from 'node:util';

/**
 * Scripts whose letters change their shape by the joiners U+200C and U+200D, which spell words there: in Persian
 * "می‌خواهم", in many languages of India, in old Mongolian.
 */
const joining = [
  ...['Arabic', 'Syriac', 'Nko', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil'],
  ...['Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Balinese', 'Javanese'],
]
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');

/** What formatting says something, and stays: all of it is invisible by itself (`Default_Ignorable_Code_Point`). */
const meant = [
  `(?<=[${joining}])[\\u200C\\u200D]`,
  // Several pictures that make one, and the colour or shape of one.
  '(?<=\\p{Extended_Pictographic}[\\uFE0E\\uFE0F\\p{Emoji_Modifier}]?)\\u200D(?=\\p{Extended_Pictographic})',
  '(?<=\\p{Extended_Pictographic}\\p{Emoji_Modifier}?)[\\uFE0E\\uFE0F]|(?<=[0-9#*])\\uFE0F(?=\\u20E3)',
  // The flags of England, Scotland and Wales.
  '(?<=\\u{1F3F4}[\\u{E0020}-\\u{E007E}]{0,6})[\\u{E0020}-\\u{E007F}]',
  // Selectors of one of a character's forms.
  '(?<=\\p{Script=Han})[\\uFE00-\\uFE02\\u{E0100}-\\u{E01EF}]|(?<=\\p{Script=Mongolian})[\\u180B-\\u180F]',
].join('|');

/** Controls but for tabs and line ends, halves of characters, and what only places or annotates others. */
const invisible = '[\\p{Default_Ignorable_Code_Point}\\p{Cs}\\uFFF9-\\uFFFC]|(?![\\t\\n])\\p{Cc}';

const meantOrInvisible = new RegExp(`(${meant})|${invisible}`, 'gu');

/** Where words may be broken; a text that was copied out of lines keeps both the sign and the break. */
const brokenWord = /(?<=\p{L})\u00AD\n(?=\p{Ll})/gu;

/** Line ends are "\n" here. */
export function withoutInvisible(text: string): string {
  return stripVTControlCharacters(text).replace(brokenWord, '').replace(meantOrInvisible, '$1');
}
