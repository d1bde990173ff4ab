import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../support/random.js';
import { argmax, logprobOf, sample } from './sampler.js';

test('a temperature of zero takes the greatest logit, the first of equals', () => {
  const logits = Float32Array.of(-1, 3, 3, -Infinity);
  assert.equal(argmax(logits), 1);
  assert.equal(sample(logits, { temperature: 0 }, createRandom(1)), 1);
});

test('tokens are drawn as often as softmax says', () => {
  const logits = Float32Array.of(0, Math.log(2), Math.log(5), -Infinity);
  for (const [temperature, expected] of [
    [1, [1 / 8, 2 / 8, 5 / 8, 0]],
    [0.5, [1 / 30, 4 / 30, 25 / 30, 0]],
  ] as const) {
    const random = createRandom(7);
    const counts = [0, 0, 0, 0];
    const draws = 20_000;
    for (let draw = 0; draw < draws; draw += 1) counts[sample(logits, { temperature }, random)]! += 1;
    counts.forEach((count, id) => assert.ok(Math.abs(count / draws - expected[id]!) < 0.015, `${id}: ${count}`));
  }
});

test('extreme temperatures and logits stay in range', () => {
  const logits = Float32Array.of(1e30, -1e30, 1e30);
  for (const temperature of [1e-6, 1, 1e6]) {
    assert.notEqual(sample(logits, { temperature }, createRandom(3)), 1);
  }
  assert.throws(() => argmax(Float32Array.of(NaN, NaN)), { code: 'internal' });
});

test('min-p never draws what is less likely than its share of the most likely token', () => {
  const logits = Float32Array.of(0, Math.log(2), Math.log(5), -Infinity);
  const random = createRandom(11);
  const drawn = new Set<number>();
  // A token with 1/5 of the greatest probability is cut off at any temperature, one with 2/5 is not.
  for (let draw = 0; draw < 2_000; draw += 1) drawn.add(sample(logits, { temperature: 4, minP: 0.3 }, random));
  assert.deepEqual([...drawn].sort(), [1, 2]);
});

test('the log-probability of a token is that of softmax', () => {
  const logits = Float32Array.of(100, 100 + Math.log(2), 100 + Math.log(5), -Infinity);
  assert.ok(Math.abs(logprobOf(logits, 1) - Math.log(2 / 8)) < 1e-5);
  assert.equal(logprobOf(logits, 3), -Infinity);
});
