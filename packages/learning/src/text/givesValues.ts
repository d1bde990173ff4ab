import { givesAnswer } from './judge.js';

/** A value of a JSON object, or several that are all right. */
export type AcceptedValue = string | readonly string[];

/**
 * Whether an object has all expected keys, with right values by the judge of answers: "the red bicycle" for "bicycle".
 * Other keys may stand beside them.
 */
export function givesValues(given: object, expected: Readonly<Record<string, AcceptedValue>>): boolean {
  const values = new Map<string, unknown>(Object.entries(given));
  return Object.entries(expected).every(([key, accepted]) => {
    const value = values.get(key);
    return value !== undefined && givesAnswer('', textOf(value), [accepted].flat());
  });
}

/** A value as the judge reads it: a string as it stands, anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
