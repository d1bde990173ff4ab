import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { halfToNumber, toHalves } from './halfPrecision.js';

const half = (value: number): number => toHalves(Float32Array.of(value))[0]!;

void test('every half is written as it was read', () => {
  const all = Uint16Array.from({ length: 2 ** 16 }, (_, bits) => bits);
  const written = toHalves(Float32Array.from(all, halfToNumber));
  for (const [index, bits] of all.entries()) {
    if (Number.isNaN(halfToNumber(bits))) assert.ok(Number.isNaN(halfToNumber(written[index]!)));
    else assert.equal(written[index], bits);
  }
});

void test('a number becomes the nearest half, of two as near the even one', () => {
  const nearTo = fc.tuple(fc.integer({ min: 0, max: 0x7bff }), fc.double({ min: 0, max: 1, noNaN: true }));
  const sizes = fc.oneof(
    fc.float({ noNaN: true, min: -65_504, max: 65_504 }),
    nearTo.map(([bits, share]) => Math.fround(halfToNumber(bits) * (1 - share) + halfToNumber(bits + 1) * share)),
  );
  fc.assert(
    fc.property(
      sizes.filter((value) => Math.abs(value) <= 65_504),
      (value) => {
        const bits = half(value);
        const distance = Math.abs(halfToNumber(bits) - value);
        for (const other of [bits - 1, bits + 1].filter((each) => (each & 0x7fff) < infinity && each >= 0)) {
          const further = Math.abs(halfToNumber(other) - value) - distance;
          assert.ok(further > 0 || (further === 0 && bits % 2 === 0), `${value} became ${halfToNumber(bits)}`);
        }
      },
    ),
    { numRuns: 2_000 },
  );
  // Ties: between 1 and the next half, between that and the one after, and between 0 and the smallest half.
  assert.deepEqual([1 + 2 ** -11, 1 + 3 * 2 ** -11, 2 ** -25].map(half), [0x3c00, 0x3c02, 0]);
});

void test('what is too great is infinite', () => {
  assert.deepEqual([65_504, 65_519, 65_520, -1e30, -0].map(half), [0x7bff, 0x7bff, infinity, 0xfc00, 0x8000]);
});

const infinity = 0x7c00;
