import { maxEchoUnits, fieldPath } from './fieldPath.js';

/** A part of a text that `JSON.parse` changes in silence. */
export interface JsonProblem {
  readonly kind: 'repeated_key' | 'inexact_number';
  /** The path of the key or number, or '' for the document itself. */
  readonly param: string;
  readonly message: string;
}

/** An open object or array, and the position of the scan in it. */
type Frame =
  | { readonly keys: Set<string>; step: string; awaitsKey: boolean }
  | { readonly keys: null; step: number; awaitsKey: false };

const numberPattern = /-?\d[\d.eE+-]*/y;

/**
 * Finds problems in the text of a JSON document that `JSON.parse` accepts: keys that occur twice in their object ("A
 * key that occurs twice in an object is refused."), and integers that a double cannot hold. One pass over the text.
 */
export function* jsonProblems(json: string): Generator<JsonProblem, void> {
  const open: Frame[] = [];
  for (let position = 0; position < json.length;) {
    const top = open.at(-1);
    const character = json.charAt(position);
    let end = position + 1;
    if (character === '{') open.push({ keys: new Set(), step: '', awaitsKey: true });
    else if (character === '[') open.push({ keys: null, step: 0, awaitsKey: false });
    else if (character === '}' || character === ']') open.pop();
    else if (character === ',') toNext(top);
    else if (character === '"') {
      end = endOfString(json, position);
      if (top?.awaitsKey === true && isRepeated(top, json.slice(position, end))) {
        yield problem('repeated_key', open, 'this key occurs twice in its object');
      }
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      const number = numberAt(json, position);
      end = position + number.length;
      if (!isKeptExactly(number)) {
        yield problem('inexact_number', open, 'a number of this size would not be kept exactly; send it as a string');
      }
    }
    position = end;
  }
}

function toNext(frame: Frame | undefined): void {
  if (frame === undefined) return;
  if (frame.keys === null) frame.step += 1;
  else frame.awaitsKey = true;
}

/** Takes in the key that a frame has waited for. */
function isRepeated(frame: Extract<Frame, { keys: Set<string> }>, quoted: string): boolean {
  const key = quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
  const known = frame.keys.has(key);
  frame.keys.add(key);
  frame.step = key;
  frame.awaitsKey = false;
  return known;
}

/** The position after the closing quotation mark. */
function endOfString(json: string, start: number): number {
  let position = start + 1;
  while (position < json.length && json[position] !== '"') position += json[position] === '\\' ? 2 : 1;
  return position + 1;
}

function numberAt(json: string, position: number): string {
  numberPattern.lastIndex = position;
  return numberPattern.exec(json)?.[0] ?? json.charAt(position);
}

/** Fractions are rounded, as everybody expects. Beyond 2^53 a number must be one that is written the same again. */
function isKeptExactly(number: string): boolean {
  const value = Number(number);
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return true;
  return Number.isFinite(value) && decimalOf(number) === decimalOf(String(value));
}

/** The digits and the exponent of a number, the same for each way of writing it. */
function decimalOf(number: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = whole + fraction;
  let length = digits.length;
  while (digits[length - 1] === '0') length -= 1;
  let start = 0;
  while (digits[start] === '0') start += 1;
  return `${digits.slice(start, length)}e${Number(exponent) - fraction.length + digits.length - length}`;
}

function problem(kind: JsonProblem['kind'], open: readonly Frame[], message: string): JsonProblem {
  return { kind, param: fieldPath(open.map(({ step }) => step)).slice(0, maxEchoUnits), message };
}
