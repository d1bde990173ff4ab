import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseWays, requireSameLoss, tryPrecisions } from './peerWays.mjs';

const trial = (precision, waiting, seconds) => ({ precision, waiting, seconds });

test('each precision runs in its faster way of waiting', () => {
  const trials = [
    trial('float32', 'active', 4),
    trial('bfloat16', 'active', 2),
    trial('float32', 'passive', 3),
    trial('bfloat16', 'passive', 5),
  ];
  assert.deepEqual(chooseWays(trials), [
    { ...trial('float32', 'passive', 3), isMeasured: true },
    { ...trial('bfloat16', 'active', 2), isMeasured: true },
  ]);
});

test('a precision far slower than the fastest is not measured, but named', () => {
  const ways = chooseWays([trial('float32', 'passive', 2), trial('bfloat16', 'passive', 11)]);
  assert.deepEqual(
    ways.map(({ precision, isMeasured }) => [precision, isMeasured]),
    [
      ['float32', true],
      ['bfloat16', false],
    ],
  );
});

test('the first step of a way warms up, and is enough where it is hopeless', async () => {
  const times = { float32: [5, 1], bfloat16: [11, 1] };
  const step = async (precision) => ({ wall_s: times[precision].shift() });
  assert.deepEqual(await tryPrecisions('passive', step), [
    trial('float32', 'passive', 1),
    trial('bfloat16', 'passive', 11),
  ]);
  assert.deepEqual(times, { float32: [], bfloat16: [1] });
});

test('peers with another loss are refused', () => {
  requireSameLoss(2.001, 2);
  assert.throws(() => requireSameLoss(2.003, 2), /different things/);
  assert.throws(() => requireSameLoss(1.99, 2), /different things/);
  assert.throws(() => requireSameLoss(NaN, 2), /different things/);
});
