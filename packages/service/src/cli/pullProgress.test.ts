import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBytes } from '../formatBytes.js';
import { TransferRate, transferFigures } from './pullProgress.js';

test('bytes are written as people read them', () => {
  const written = [0, 999, 1000, 999_949, 999_951, 272_583_811, 5e9].map(formatBytes);
  assert.deepEqual(written, ['0 bytes', '999 bytes', '1.0 kB', '999.9 kB', '1.0 MB', '272.6 MB', '5.0 GB']);
});

test('the rate is that of the last seconds, without what was there before the start', () => {
  const rate = new TransferRate();
  assert.equal(rate.bytesPerSecond, null);
  rate.add(1000, 5_000_000);
  assert.equal(rate.bytesPerSecond, null);
  rate.add(2000, 6_000_000);
  assert.equal(rate.bytesPerSecond, 1_000_000);
  for (let second = 3; second <= 30; second += 1) rate.add(second * 1000, 6_000_000);
  assert.equal(rate.bytesPerSecond, 0, 'a stall shows');
  rate.add(31_000, 0);
  assert.equal(rate.bytesPerSecond, null, 'another file begins');
});

test('nothing is told of a rate that is not known, and of one that is, how long it takes', () => {
  const unknown = { done: '1.0 MB', all: '3.0 MB', rate: '?', left: '?' };
  assert.deepEqual(transferFigures(1e6, 3e6, null), unknown);
  assert.deepEqual(transferFigures(1e6, 3e6, 0), unknown);
  assert.deepEqual(transferFigures(1e6, 3e6, 1e5), { ...unknown, rate: '100.0 kB', left: '20 s' });
  assert.equal(transferFigures(0, 3e8, 1e6).left, '5 min');
  assert.equal(transferFigures(0, 9e9, 1e6).left, '2.5 h');
});
