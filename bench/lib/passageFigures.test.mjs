import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchedFigures } from './engineWatch.mjs';
import { figuresOf, plot } from './passageFigures.mjs';
import { memoryOf } from './processFigures.mjs';

const contestants = (...figures) =>
  figures.map(([name, seconds, right]) => ({ name, seconds, cpuSeconds: 2 * seconds, right }));

const passages = [
  {
    id: 'kettle',
    steps: 10,
    heldOut: { total: 4, base: 0 },
    contestants: contestants(['Engraft', 6, 3], ['float32', 10, 3], ['bfloat16', 12, 2]),
  },
  {
    id: 'tent',
    steps: 20,
    heldOut: { total: 6, base: 1 },
    contestants: contestants(['Engraft', 8, 5], ['float32', 20, 5], ['bfloat16', 10, 6]),
  },
];

test('the ratio is to the fastest peer, of each passage and of all', () => {
  const { passages: each, all } = figuresOf(passages);
  assert.deepEqual(
    each.map(({ fastestPeer, ratio }) => [fastestPeer, ratio]),
    [
      ['float32', 0.6],
      ['bfloat16', 0.8],
    ],
  );
  // 30 seconds in float32, 22 in bfloat16.
  assert.equal(all.fastestPeer, 'bfloat16');
  assert.equal(all.ratio, 14 / 22);
  assert.equal(all.steps, 30);
  assert.deepEqual(all.heldOut, { total: 10, base: 1 });
  assert.deepEqual(
    all.contestants.map(({ right }) => right),
    [8, 8, 8],
  );
});

test('the plot has a bar for every time and every share', () => {
  const svg = plot({ model: { parameters: 1000 }, figures: figuresOf(passages) });
  // Base has shares only: of all and of two passages.
  assert.equal(svg.match(/<title>/g).length, 3 * 3 * 2 + 3);
  assert.match(svg, /kettle: time: 50 %/);
});

test('the memory is that of the greatest process of each kind, the processor time that of all trainings', () => {
  const processes = [
    { purpose: 'serving', peak_gb: 1, cpu_seconds: 100 },
    { purpose: 'training', peak_gb: 0.5, cpu_seconds: 3 },
    { purpose: 'training', peak_gb: 1.25, cpu_seconds: 4 },
  ];
  assert.deepEqual(watchedFigures(processes, 2e9), {
    serving_gb: 1,
    training_gb: 1.25,
    sum_gb: 2.25,
    together_gb: 2,
    training_cpu_seconds: 7,
  });
  assert.throws(() => watchedFigures([], 0), /Linux/);
});

test('the memory of a process is read in bytes, and is nothing once it has ended', () => {
  const status = 'Name:\tnode\nVmPeak:\t  9000 kB\nVmHWM:\t    2000 kB\nVmRSS:\t    1500 kB\n';
  assert.deepEqual(memoryOf(status), { resident: 1500 * 1024, peak: 2000 * 1024 });
  assert.equal(memoryOf('Name:\tnode\nState:\tZ (zombie)\n'), null);
});
