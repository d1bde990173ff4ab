/** Marks of footnotes, which a sentence says nothing by. */
import { outsideCode } from './marks.js';

/** A number or letter may also be an index: "items[1]". */
const short = '\\[(?:\\^?[1-9]\\d{0,2}|[a-z])\\]';
const long = '\\[(?:(?:note|nb) \\d{1,3}|[a-z][a-z -]{0,30} needed)\\]';
const stop = '(?<=[\\p{L}\\p{N}\\p{Sc}"\'”’)%°][.!?]["\'”’)]?)';
/** A link, an index of something longer, or one that is reckoned with, is no mark. */
const notIndex = '(?![\\p{L}\\p{N}_([]| ?[=+*/<>]|\\.[\\p{L}\\p{N}_])';

const longMarks = new RegExp(`(?<=[\\p{L}\\p{N}\\p{Sc}.,:;!?"'”’)%°\\]])${long}(?!\\()`, 'gu');
const shortMarks = new RegExp(`(?<=[\\p{L}\\p{N}\\p{Sc}.,:;!?"'”’)%°])(?:${short})+${notIndex}`, 'gu');
/** No index stands behind a full stop or a number. */
const certain = new RegExp(`(?:${stop}|(?<=(?:^|[\\s(])\\p{Sc}?\\d[\\d.,]{0,20}))${short}(?=[\\s[.,]|$)`, 'mu');
/** Not "m²". */
const raised = new RegExp(`${stop}[¹²³⁰⁴-⁹]+(?=\\s|$)`, 'gu');

/** "[^1]: Without water." */
const label = /^ {0,3}\[\^[^[\]\s]{1,30}\]:[ \t]+(?=\S)/gmu;

/**
 * Removes "[1]" and "[citation needed]" behind words and full stops, and "¹" behind full stops. Code keeps its indexes,
 * and so does a text that has no short mark where only a footnote can have one.
 */
export function withoutFootnotes(text: string): string {
  const parts: string[] = [];
  const bare = outsideCode(text, (part) => {
    const without = part.replace(label, '').replace(longMarks, '').replace(raised, '');
    parts.push(without);
    return without;
  });
  const cites = parts.some((part) => certain.test(part));
  return cites ? outsideCode(bare, (part) => part.replace(shortMarks, '')) : bare;
}
