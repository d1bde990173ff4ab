import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { jsonProblems, type JsonProblem } from './jsonProblems.js';

const found = (json: string): (readonly [JsonProblem['kind'], string])[] => {
  JSON.parse(json);
  return [...jsonProblems(json)].map(({ kind, param }) => [kind, param]);
};

/** A document as it is written: its objects may have one key several times. */
type Written = string | { readonly items: readonly Written[] } | { readonly entries: readonly [string, Written][] };

const text = fc.string({ unit: fc.constantFrom('a', 'b', '"', '\\', '{', '[', ',', ':', '1', 'é'), maxLength: 4 });
const key = fc.oneof(fc.constantFrom('a', 'b', '__proto__', ''), text);
const { written } = fc.letrec<{ written: Written }>((tie) => ({
  written: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'written' },
    fc.oneof(
      fc.constantFrom('1', '-0.5e+3', 'true', 'null'),
      text.map((value) => JSON.stringify(value)),
    ),
    fc.array(tie('written'), { maxLength: 4 }).map((items) => ({ items })),
    fc.array(fc.tuple(key, tie('written')), { maxLength: 4 }).map((entries) => ({ entries })),
  ),
}));

/** `escapes`: keys are written in escapes, so that equal ones need not look it. */
function jsonOf(value: Written, space: string, escapes: boolean): string {
  if (typeof value === 'string') return value;
  const each = (inner: Written): string => jsonOf(inner, space, !escapes);
  if ('items' in value) return `[${space}${value.items.map(each).join(`${space},${space}`)}${space}]`;
  const quoted = (name: string): string =>
    escapes
      ? `"${Array.from(name, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(name);
  const entries = value.entries.map(
    ([name, inner], at) => `${at === 0 ? JSON.stringify(name) : quoted(name)}${space}:${each(inner)}`,
  );
  return `{${space}${entries.join(`,${space}`)}${space}}`;
}

/** Paths of the keys that occur again, as the document goes. */
function repeatedIn(value: Written, at: string): string[] {
  if (typeof value === 'string') return [];
  if ('items' in value) return value.items.flatMap((inner, index) => repeatedIn(inner, `${at}[${index}]`));
  return value.entries.flatMap(([name, inner], index) => {
    const shown = name === '' ? '""' : name;
    const path = at === '' ? shown : `${at}.${shown}`;
    const again = value.entries.slice(0, index).some(([earlier]) => earlier === name);
    return [...(again ? [path] : []), ...repeatedIn(inner, path)];
  });
}

describe('"A key that occurs twice in an object is refused."', () => {
  test('at any depth, however it is written, with its path', () => {
    for (const [json, param] of [
      ['{"subject_id":"a","subject_id":"b"}', 'subject_id'],
      ['{"messages":[{"role":"user"},{"role":"user","content":"a","role":"system"}]}', 'messages[1].role'],
      ['{"a":{"b":[[{"c":1,"\\u0063":2}]]}}', 'a.b[0][0].c'],
      ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ] as const) {
      assert.deepEqual(found(json), [['repeated_key', param]]);
    }
  });

  test('and no other document is, whatever its texts look like', () => {
    fc.assert(
      fc.property(written, fc.constantFrom('', ' ', '\n\t'), fc.boolean(), (value, space, escapes) => {
        const expected = repeatedIn(value, '').map((path) => ['repeated_key', path.slice(0, 300)]);
        assert.deepEqual(found(jsonOf(value, space, escapes)), expected);
      }),
      { numRuns: 2_000 },
    );
    fc.assert(fc.property(fc.jsonValue(), (value) => assert.deepEqual(found(JSON.stringify(value)), [])));
  });

  test('names no more than a line of a path without end', () => {
    const deep = `${'{"a":['.repeat(8_000)}{"b":1,"b":2}${']}'.repeat(8_000)}`;
    assert.deepEqual(found(deep), [['repeated_key', `a[0]${'.a[0]'.repeat(100)}`.slice(0, 300)]]);
  });
});

/** The integer that JSON has for a number, `1.5e+21` say. */
function writtenAgain(value: number): bigint {
  const [digits = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  return BigInt(whole + fraction.padEnd(Number(exponent), '0'));
}

describe('a number beyond 2^53', () => {
  test('is refused by its path, unless it is the same when it is written again', () => {
    for (const number of ['9007199254740993', '-12345678901234567890', '18446744073709551615', '1e999', '-1e400']) {
      assert.deepEqual(found(`{"a":[0,${number}]}`), [['inexact_number', 'a[1]']], number);
    }
    for (const number of [
      '9007199254740991',
      '9007199254740992',
      '1e20',
      '9223372036854776000',
      '1180591620717411300000',
      '1.0E+20',
      '100000000000000000000',
      '0.1',
      '1.7976931348623157e+308',
      '0.12345678901234567890',
      '1e-400',
    ]) {
      assert.deepEqual(found(`[${number}]`), [], number);
    }
  });

  test('is otherwise kept exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
        assert.equal(found(`[${integer}]`).length === 0, writtenAgain(Number(integer)) === integer);
      }),
      { numRuns: 1_000 },
    );
  });
});
