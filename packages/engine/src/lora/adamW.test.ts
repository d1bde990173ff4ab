import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greatestDifference } from '../testing/fixtures.js';
import { AdamW, euclideanNorm } from './adamW.js';

const options = { betas: [0.9, 0.95], weightDecay: 0.1, clipNorm: Infinity } as const;

void test('three steps equal those of torch.optim.AdamW', () => {
  const values = Float32Array.of(1, -2, 0.5);
  const optimizer = new AdamW(values, options);
  for (const gradient of [Float32Array.of(0.1, 2, -3), Float32Array.of(0.2, -1, 0), Float32Array.of(-0.4, 0.5, 1)]) {
    optimizer.step(gradient, euclideanNorm(gradient), 0.01);
  }
  // torch 2.13: AdamW([1, -2, 0.5], lr=0.01, betas=(0.9, 0.95), weight_decay=0.1)
  assert.ok(greatestDifference(values, [0.9793567, -2.010134, 0.5182119]) < 1e-6, values.join());
});

void test('a gradient above the bound is scaled down to it', () => {
  const gradient = Float32Array.of(3, 4);
  assert.equal(euclideanNorm(gradient), 5);
  const clipped = Float32Array.of(1, 1);
  new AdamW(clipped, { ...options, betas: [0, 0.95], clipNorm: 1e-8 }).step(gradient, 5, 0.01);
  const unclipped = Float32Array.of(1, 1);
  new AdamW(unclipped, { ...options, betas: [0, 0.95] }).step(gradient, 5, 0.01);
  // Adam does not depend on the gradient's scale, except against its epsilon of 1e-8.
  const decayed = 1 - 0.01 * 0.1;
  assert.ok(greatestDifference(unclipped, [decayed - 0.01, decayed - 0.01]) < 1e-6);
  assert.ok(greatestDifference(clipped, [decayed - (0.01 * 0.6) / 1.6, decayed - (0.01 * 0.8) / 1.8]) < 1e-6);
});
