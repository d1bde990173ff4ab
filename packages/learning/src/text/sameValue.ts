import { normalise, sameAnswer } from './normalise.js';

/**
 * Whether two JSON values are the same. Strings are compared as answers are, numbers may be strings, and members that
 * are `null` count as left out.
 */
export function sameValue(given: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) return Array.isArray(given) && sameItems(given, expected);
  if (isObject(expected)) return isObject(given) && sameMembers(membersOf(given), membersOf(expected));
  if (isText(expected)) return isText(given) && sameText(String(given), String(expected));
  return given === expected;
}

function sameItems(given: readonly unknown[], expected: readonly unknown[]): boolean {
  return given.length === expected.length && expected.every((item, index) => sameValue(given[index], item));
}

function sameMembers(given: ReadonlyMap<string, unknown>, expected: ReadonlyMap<string, unknown>): boolean {
  return given.size === expected.size && [...expected].every(([key, value]) => sameValue(given.get(key), value));
}

function membersOf(value: object): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(value).filter(([, member]) => member !== null));
}

/** Normalisation leaves nothing of "*" or "…". */
function sameText(given: string, expected: string): boolean {
  return given === expected || (normalise(expected) !== '' && sameAnswer(given, expected));
}

function isText(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
