import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allFinite } from './finite.js';

test('a stretch is finite when each of its numbers is, whatever lies beside it', () => {
  const number = fc.oneof(
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(NaN, Infinity, -Infinity),
  );
  fc.assert(
    fc.property(fc.array(number, { maxLength: 12 }), fc.nat(12), fc.nat(12), (numbers, from, to) => {
      const [start, end] = [Math.min(from, to, numbers.length), Math.min(Math.max(from, to), numbers.length)];
      const expected = numbers.slice(start, end).every(Number.isFinite);
      assert.equal(allFinite(Float32Array.from(numbers), start, end), expected);
    }),
    { numRuns: 1_000 },
  );
});
