/** The shape of a relation, and the values that the tables beside this file ask for. */
import { colourWords, shadeWords } from '../../english/colours.js';
import type { Span } from '../../spans/spans.js';

/** The usual ways of asking for one thing. */
export interface Template {
  /** Rows of one name are one relation. */
  readonly name: string;
  readonly kinds: readonly Span['kind'][];
  /** Somewhere in the sentence. */
  readonly cue?: RegExp;
  /** The span itself, in lower case. */
  readonly value?: RegExp;
  /** `{X}` is what is asked about, `{N}` what a quantity counts. */
  readonly wordings: readonly string[];
}

export const price: readonly Span['kind'][] = ['money', 'quantity'];
export const when: readonly Span['kind'][] = ['date', 'time'];
export const person: readonly Span['kind'][] = ['name', 'phrase'];
export const thing: readonly Span['kind'][] = ['phrase', 'name'];

export const dataUnit = /\b(?:[kmgt]i?b|bytes?|kilobytes?|megabytes?|gigabytes?|terabytes?|megs?|gigs?)$/u;
export const colour = new RegExp(`^(?:(?:${shadeWords}|painted) )*(?:${colourWords}|silver|gold|golden)\\b`, 'u');
/** A material or a thing, not a colour. */
export const noColour = new RegExp(`^(?!(?:(?:${shadeWords}|painted) )*(?:${colourWords}|silver|gold|golden)$)`, 'u');
/** A number of things, not of units: what the wordings with `{N}` need. */
const pluralUnits =
  '(?:\\p{Ll}*met(?:re|er)s|\\p{Ll}*grams|kilos|tons|tonnes|miles|yards|inches|acres|hectares|litres|watts|seconds|minutes|hours|days' +
  '|nights|weeks|months|years|decades|dollars|euros|pounds|cents|crowns|francs|rupees|degrees)';
export const counted = new RegExp(
  `^(?!.* ${pluralUnits}$)\\S+(?: \\p{Ll}+)? (?:\\p{Ll}+s|people|men|women|children|staff)$`,
  'u',
);
