/**
 * Numbers of JSON that JavaScript would write otherwise than they were written, such as ids of 19 digits, kept as they
 * are: between reading and writing they are strings that no other text is like.
 */
import { randomBytes } from 'node:crypto';

const MARK = `\uFDD0${randomBytes(8).toString('hex')}\uFDD0`;
const MARKED = new RegExp(`"?${MARK}([^\uFDD0]*)${MARK}"?`, 'g');
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;

/** As `JSON.parse`, but for such numbers, which `restoreNumbers` finds in whatever text was made of the value. */
export function parseWithExactNumbers(json: string): unknown {
  const value: unknown = JSON.parse(json);
  // Marked text is valid JSON only if the original was.
  const marked = json.replace(STRING_OR_NUMBER, (token) => (isKept(token) ? token : `"${MARK}${token}${MARK}"`));
  return marked === json ? value : JSON.parse(marked);
}

export function restoreNumbers(text: string): string {
  return text.replace(MARKED, '$1');
}

/** Numbers that are not so large are those that everybody's JSON makes of them. */
function isKept(token: string): boolean {
  if (token.startsWith('"')) return true;
  const value = Number(token);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER || String(value) === token;
}
