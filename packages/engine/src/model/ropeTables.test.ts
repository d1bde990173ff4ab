import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inverseFrequencies, ropeTables } from './ropeTables.js';
import { tinyConfig } from '../testing/fixtures.js';

void test('default frequencies fall geometrically from 1 and linear scaling divides them', () => {
  const plain = inverseFrequencies({ headDim: 4, ropeTheta: 100, ropeScaling: { kind: 'default' } });
  assert.deepEqual(plain, [1, 0.1]);
  const linear = inverseFrequencies({ headDim: 4, ropeTheta: 100, ropeScaling: { kind: 'linear', factor: 4 } });
  assert.deepEqual(linear, [0.25, 0.025]);
});

void test('llama3 scaling keeps fast turns, divides slow ones and interpolates between', () => {
  const scaling = { kind: 'llama3', factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4 } as const;
  const ropeScaling = { ...scaling, originalContextLength: 8192 };
  const frequencies = inverseFrequencies({ headDim: 128, ropeTheta: 500_000, ropeScaling });
  assert.equal(frequencies.length, 64);
  // Values of transformers 5.23 for Llama 3.1.
  const expected = new Map([
    [0, 1],
    [20, 0.016560440883],
    [30, 0.001371893683],
    [32, 0.000524846022],
    [36, 0.0000778465546],
    [63, 0.000000306892588],
  ]);
  for (const [index, value] of expected) {
    assert.ok(Math.abs((frequencies[index] ?? NaN) / value - 1) < 1e-6, `frequency ${index}`);
  }
});

void test('tables have a row for each position of the context', () => {
  const { cos, sin } = ropeTables(tinyConfig);
  assert.deepEqual(cos.shape, [48, 8]);
  assert.deepEqual([...cos.data.subarray(0, 4)], [1, 1, 1, 1]);
  assert.deepEqual([...sin.data.subarray(0, 4)], [0, 0, 0, 0]);
  assert.equal(sin.data[8], Math.fround(Math.sin(1)));
});
