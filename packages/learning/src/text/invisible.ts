/** Invisible characters: controls, formatting, and joiners that join nothing. */
import { stripVTControlCharacters } from 'node:util';

/**
 * Scripts in which the joiners U+200C and U+200D change the shape of letters and so spell words: Persian "می‌خواهم",
 * many languages of India, and old Mongolian.
 */
const joining = [
  ...['Arabic', 'Syriac', 'Nko', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil'],
  ...['Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Balinese', 'Javanese'],
]
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');

/** Formatting that means something and stays, although it is invisible by itself (`Default_Ignorable_Code_Point`). */
const meant = [
  `(?<=[${joining}])[\\u200C\\u200D]`,
  // Joins several pictures into one, or sets its colour or shape.
  '(?<=\\p{Extended_Pictographic}[\\uFE0E\\uFE0F\\p{Emoji_Modifier}]?)\\u200D(?=\\p{Extended_Pictographic})',
  '(?<=\\p{Extended_Pictographic}\\p{Emoji_Modifier}?)[\\uFE0E\\uFE0F]|(?<=[0-9#*])\\uFE0F(?=\\u20E3)',
  // Spells the flags of England, Scotland and Wales.
  '(?<=\\u{1F3F4}[\\u{E0020}-\\u{E007E}]{0,6})[\\u{E0020}-\\u{E007F}]',
  // Selects one of a character's forms.
  '(?<=\\p{Script=Han})[\\uFE00-\\uFE02\\u{E0100}-\\u{E01EF}]|(?<=\\p{Script=Mongolian})[\\u180B-\\u180F]',
].join('|');

/** Controls except tabs and line ends, halves of characters, and characters that only place or annotate others. */
const invisible = '[\\p{Default_Ignorable_Code_Point}\\p{Cs}\\uFFF9-\\uFFFC]|(?![\\t\\n])\\p{Cc}';

const meantOrInvisible = new RegExp(`(${meant})|${invisible}`, 'gu');

/** A soft hyphen. Text copied out of lines keeps both the hyphen and the line break. */
const brokenWord = /(?<=\p{L})\u00AD\n(?=\p{Ll})/gu;

/** Line ends are "\n" here. */
export function withoutInvisible(text: string): string {
  return stripVTControlCharacters(text).replace(brokenWord, '').replace(meantOrInvisible, '$1');
}
