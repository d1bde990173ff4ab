import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf, pointsBeyond } from './weightsFigures.mjs';

const run = (format, id, right, trainingGb) => ({
  format,
  id,
  seed: 1,
  report: {
    fact_count: 8,
    steps: 60,
    seconds: 100,
    unseen: { right, total: 8 },
    trained: { right: 8, total: 8 },
  },
  engine: { training_gb: trainingGb, serving_gb: 1, training_cpu_seconds: 90 },
});

test('formats are compared by the passages that all of them learned', () => {
  const runs = [
    run('f32', 'a', 6, 1.5),
    run('q8', 'a', 7, 1),
    run('f32', 'b', 2, 9),
    run('f32', 'c', 8, 1),
    run('q8', 'c', 6, 1.25),
  ];
  const [f32, q8] = figuresOf(runs, ['f32', 'q8']);
  assert.deepEqual(f32, {
    format: 'f32',
    learnings: 2,
    facts: 16,
    steps: 120,
    training_gb: 1.5,
    serving_gb: 1,
    training_cpu_seconds: 180,
    seconds: 200,
    heldOut: { right: 14, total: 16 },
    trained: { right: 16, total: 16 },
  });
  assert.deepEqual([q8.heldOut.right, q8.training_gb], [13, 1.25]);
  assert.equal(pointsBeyond(f32, q8), -6.25);
});

test('where no passage was learned in all formats there is nothing to compare', () => {
  const [f32, q8] = figuresOf([run('f32', 'a', 6, 1)], ['f32', 'q8']);
  assert.deepEqual([f32.learnings, q8.learnings, pointsBeyond(f32, q8)], [0, 0, null]);
});
