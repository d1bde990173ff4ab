import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { keptNumber, parseWithExactNumbers, restoreNumbers } from './exactNumbers.js';

const copyOf = (json: string): string => restoreNumbers(JSON.stringify(parseWithExactNumbers(json)));

describe('numbers that JavaScript would change', () => {
  test('come out as they went in, however large', () => {
    const integers = fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n });
    fc.assert(fc.property(integers, (value) => assert.equal(copyOf(`{"id":[${value}]}`), `{"id":[${value}]}`)));
    for (const text of ['9007199254740993', '-12345678901234567890', '1e400', '18446744073709551616', '1e20']) {
      assert.equal(copyOf(`[${text}]`), `[${text}]`);
    }
  });

  test('come out as they went in, however they are written', () => {
    for (const text of ['10.0', '1e-07', '-0', '-0.0', '1E5', '2.50', '0.30000000000000004999', '1e2', '0.5', '-7']) {
      assert.equal(copyOf(`{"a":[${text}]}`), `{"a":[${text}]}`);
    }
  });

  test('have a value until they are written', () => {
    const values = parseWithExactNumbers('["10.0", 10.0, 1e400]') as readonly string[];
    assert.deepEqual(values.map(keptNumber), [undefined, 10, Infinity]);
  });

  test('are looked for outside of texts, and nothing else changes', () => {
    assert.equal(copyOf('{"a":"12345678901234567890\\" 12345678901234567890"}').match(/"12/g)?.length, 1);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        assert.equal(copyOf(json), json);
      }),
    );
  });

  test('make nothing JSON that was none', () => {
    for (const text of ['{12345678901234567890: 1}', '012345678901234567890', '12345678901234567890 1', '"\n"']) {
      assert.throws(() => parseWithExactNumbers(text), SyntaxError, text);
    }
  });
});
