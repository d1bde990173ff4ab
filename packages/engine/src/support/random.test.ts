import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from './random.js';

void test('a seed fixes the sequence, and near seeds differ', () => {
  const draw = (seed: number) => {
    const random = createRandom(seed);
    return Array.from({ length: 4 }, () => random.next());
  };
  assert.deepEqual(draw(7), draw(7));
  assert.notDeepEqual(draw(7), draw(8));
  assert.notDeepEqual(draw(7), draw(7 + 2 ** 32));
  assert.notDeepEqual(draw(7), draw(-7));
});

void test('numbers are spread evenly over [0, 1)', () => {
  const random = createRandom(0);
  const counts = new Array<number>(10).fill(0);
  let sum = 0;
  for (let index = 0; index < 100_000; index += 1) {
    const value = random.next();
    assert.ok(value >= 0 && value < 1);
    counts[Math.floor(value * 10)]! += 1;
    sum += value;
  }
  assert.ok(Math.abs(sum / 100_000 - 0.5) < 0.005);
  assert.ok(
    counts.every((count) => Math.abs(count - 10_000) < 500),
    counts.join(),
  );
});
