import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseWithExactNumbers, restoreNumbers } from './exactNumbers.js';

const copyOf = (json: string): string => restoreNumbers(JSON.stringify(parseWithExactNumbers(json)));

describe('numbers that JavaScript would change', () => {
  test('come out as they went in, however large', () => {
    const integers = fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n });
    fc.assert(fc.property(integers, (value) => assert.equal(copyOf(`{"id":[${value}]}`), `{"id":[${value}]}`)));
    for (const text of ['9007199254740993', '-12345678901234567890', '1e400', '18446744073709551616', '1e20']) {
      assert.equal(copyOf(`[${text}]`), `[${text}]`);
    }
  });

  test('are looked for outside of texts, and nothing else changes', () => {
    assert.equal(copyOf('{"a":"12345678901234567890\\" 12345678901234567890"}').match(/"12/g)?.length, 1);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        assert.deepEqual(parseWithExactNumbers(json), JSON.parse(json));
      }),
    );
  });

  test('make nothing JSON that was none', () => {
    for (const text of ['{12345678901234567890: 1}', '012345678901234567890', '12345678901234567890 1', '"\n"']) {
      assert.throws(() => parseWithExactNumbers(text), SyntaxError, text);
    }
  });
});
