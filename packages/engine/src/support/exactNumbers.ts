/**
 * Keeps JSON numbers that JavaScript would write differently, such as ids of 19 digits. Between parsing and writing
 * they are strings that no other text can equal.
 */
import { randomBytes } from 'node:crypto';

const numberMark = `\uFDD0${randomBytes(8).toString('hex')}\uFDD0`;
const markedNumber = new RegExp(`"?${numberMark}([^\uFDD0]*)${numberMark}"?`, 'g');
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;

/** Like `JSON.parse`, but keeps such numbers. `restoreNumbers` restores them in any text made from the value. */
export function parseWithExactNumbers(json: string): unknown {
  const value: unknown = JSON.parse(json);
  // Marked text is valid JSON only if the original was.
  const marked = json.replace(stringOrNumber, (token) =>
    isKept(token) ? token : `"${numberMark}${token}${numberMark}"`,
  );
  return marked === json ? value : JSON.parse(marked);
}

export function restoreNumbers(text: string): string {
  return text.replace(markedNumber, '$1');
}

/** Whether everybody's JSON would write the number like this. Smaller numbers survive any parser. */
function isKept(token: string): boolean {
  if (token.startsWith('"')) return true;
  const value = Number(token);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER || String(value) === token;
}
