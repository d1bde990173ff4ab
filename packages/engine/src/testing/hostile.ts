/** Damage to files from outside, as arbitraries of fast-check. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EngineError, type EngineErrorCode } from '../engine.js';

/** Stands for a list nested so deeply that a recursive walk overflows the stack. */
const nestedListMarker = 'a list in a list in a list';

/** Serialises a damaged value. */
export function jsonText(value: unknown): string {
  const levels = 20_000;
  return JSON.stringify(value).replaceAll(
    JSON.stringify(nestedListMarker),
    () => '['.repeat(levels) + ']'.repeat(levels),
  );
}

const absurdValues: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, '', 'x', [], {}, -1, 0, 0.5, 1e9, 2 ** 31, 2 ** 53, 1e308, '__proto__', 'constructor'),
  fc.constant(nestedListMarker),
  fc.constantFrom(1e4).map((length) => 'a'.repeat(length)),
  fc.constantFrom(1e4).map((length) => new Array<number>(length).fill(7)),
  fc.jsonValue({ maxDepth: 2 }),
);

type Path = readonly (string | number)[];

/** Copies of a JSON value in which a few parts are missing or replaced. */
export function damagedJson(original: unknown): fc.Arbitrary<unknown> {
  const paths = pathsOf(original, []);
  const damage = fc.record({ path: fc.constantFrom(...paths), part: fc.option(absurdValues, { nil: undefined }) });
  return fc.array(damage, { minLength: 1, maxLength: 3 }).map((list) => {
    let value: unknown = structuredClone(original);
    for (const { path, part } of list) value = replaced(value, path, part);
    return value;
  });
}

/** Copies of a file with changed, missing or inserted bytes. */
export function damagedBytes(original: Uint8Array): fc.Arbitrary<Buffer> {
  const at = fc.nat({ max: original.byteLength - 1 });
  // Headers come first and are a small part of the file.
  const position = fc.oneof(at, fc.nat({ max: Math.min(original.byteLength - 1, 400) }));
  const damage = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), position, bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }) }),
    fc.record({ kind: fc.constant('cut' as const), position, bytes: fc.constant(new Uint8Array()) }),
    fc.record({
      kind: fc.constant('insert' as const),
      position,
      bytes: fc.uint8Array({ minLength: 1, maxLength: 64 }),
    }),
  );
  return fc.array(damage, { minLength: 1, maxLength: 4 }).map((list) => {
    let bytes = Buffer.from(original);
    for (const { kind, position: wanted, bytes: put } of list) {
      const start = Math.min(wanted, bytes.byteLength);
      const rest = kind === 'insert' ? start : start + put.byteLength;
      const tail = kind === 'cut' ? Buffer.alloc(0) : bytes.subarray(rest);
      bytes = Buffer.concat([bytes.subarray(0, start), put, tail]);
    }
    return bytes;
  });
}

/** Returns the result, or checks that the error has one of the codes and a short message that matches `names`. */
export async function readOrRefused<T>(
  read: () => T | Promise<T>,
  codes: readonly EngineErrorCode[],
  names: RegExp,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    assert.ok(error instanceof EngineError, String(error));
    assert.ok(codes.includes(error.code), `${error.code}: ${error.message}`);
    assert.match(error.message, names);
    assert.ok(error.message.length < 1000, `a message of ${error.message.length} characters`);
    return undefined;
  }
}

function pathsOf(value: unknown, path: Path): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const keys = Array.isArray(value) ? [...value.keys()].slice(0, 20) : Object.keys(value).slice(0, 200);
  const children = keys.flatMap((key) => pathsOf((value as Record<string | number, unknown>)[key], [...path, key]));
  return path.length === 0 ? children : [path, ...children];
}

/** Replaces the value at a path by `part`, or removes it. */
function replaced(value: unknown, [key, ...rest]: Path, part: unknown): unknown {
  if (key === undefined) return part;
  // Earlier damage may have removed the path.
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return value;
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...value };
  const holder = copy as Record<string | number, unknown>;
  holder[key] = replaced(holder[key], rest, part);
  return copy;
}
