/**
 * Keeps JSON numbers that JavaScript would write differently, such as ids of 19 digits, `10.0` and `1e-07`. Between
 * parsing and writing they are strings that no other text can equal.
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
    isUnchanged(token) ? token : `"${numberMark}${token}${numberMark}"`,
  );
  return marked === json ? value : JSON.parse(marked);
}

export function restoreNumbers(text: string): string {
  return text.replace(markedNumber, '$1');
}

/** The value of a number that `parseWithExactNumbers` kept, which is a string until it is written. */
export function keptNumber(text: string): number | undefined {
  const isKeptNumber = text.startsWith(numberMark) && text.endsWith(numberMark);
  return isKeptNumber ? Number(text.slice(numberMark.length, -numberMark.length)) : undefined;
}

/** Whether JavaScript writes it as it is. */
function isUnchanged(token: string): boolean {
  return token.startsWith('"') || String(Number(token)) === token;
}
