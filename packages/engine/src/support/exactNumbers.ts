/**
 * Numbers of JSON that JavaScript would write otherwise than they were written, such as ids of 19 digits, kept as they
 * are: between reading and writing they are strings that no other text is like.
 */
import { randomBytes } from 'node:crypto';

const numberMark = `\uFDD0${randomBytes(8).toString('hex')}\uFDD0`;
const markedNumber = new RegExp(`"?${numberMark}([^\uFDD0]*)${numberMark}"?`, 'g');
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;

/** As `JSON.parse`, but for such numbers, which `restoreNumbers` finds in whatever text was made of the value. */
export function parseWithExactNumbers(json: string): unknown {
  const value: unknown = JSON.parse(json);
  // Marked text is valid JSON only if the original was.
  const marked = json.replace(stringOrNumber, (token) => (isKept(token) ? token : `"${numberMark}${token}${numberMark}"`));
  return marked === json ? value : JSON.parse(marked);
}

export function restoreNumbers(text: string): string {
  return text.replace(markedNumber, '$1');
}

/** Numbers that are not so large are those that everybody's JSON makes of them. */
function isKept(token: string): boolean {
  if (token.startsWith('"')) return true;
  const value = Number(token);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER || String(value) === token;
}
