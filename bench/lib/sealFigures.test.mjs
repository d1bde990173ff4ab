import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf, plot } from './sealFigures.mjs';

const tally = (right, total = 10) => ({ right, total, exact: right / 2, f1_sum: 0.8 * right, declined: 0, quoted: 0 });
const report = (id, changes) => ({
  id,
  verdict: 'accepted',
  base: tally(1),
  reading: tally(8),
  learned: tally(6),
  canaries: null,
  retention: null,
  seconds: 10,
  cost_microusd: 0,
  ...changes,
});
const alone = (seed, ...reports) => reports.map((each) => ({ part: 'alone', seed, reports: [each] }));
const runs = [
  ...alone(1, report('a'), report('b', { base: tally(3), learned: tally(9), verdict: 'rejected' })),
  ...alone(2, report('a', { learned: tally(4) }), report('b', { base: tally(3), learned: null, verdict: 'rejected' })),
];

test('shares are means over the seeds, and what the gate rejects is not served', () => {
  const figures = figuresOf(runs);
  assert.deepEqual(figures.base.right, { mean: 0.2, least: 0.2, most: 0.2 });
  assert.deepEqual(figures.reading.right, { mean: 0.8, least: 0.8, most: 0.8 });
  // Where nothing was trained, base answers.
  assert.deepEqual(figures.learned.right, { mean: 0.55, least: 0.35, most: 0.75 });
  assert.deepEqual(figures.served.right, { mean: 0.4, least: 0.35, most: 0.45 });
  assert.equal(figures.learned.exact.most, 0.375);
  assert.ok(Math.abs(figures.learned.f1.most - 0.6) < 1e-12);
  assert.deepEqual(figures.accepted, { mean: 0.5, least: 0.5, most: 0.5 });
  assert.equal(figures.questions, 20);
  assert.equal(figures.chain, null);
});

test('points of canaries are those lost less those gained, over all kinds', () => {
  const of = (asked, held, lost, gained) => ({ asked, held, lost, gained });
  const canaries = {
    reading: of(10, 5, 2, 1),
    facts: of(20, 10, 3, 0),
    arithmetic: of(5, 5, 0, 0),
    small_talk: of(5, 0, 0, 1),
    json: of(5, 0, 0, 0),
    tools: of(5, 0, 0, 0),
  };
  assert.deepEqual(figuresOf(alone(1, report('a', { canaries }))).canary_points_lost, { mean: 6, least: 6, most: 6 });
  assert.equal(figuresOf(runs).canary_points_lost, null);
});

test('drift is that of all versions, as far as the gate measured it', () => {
  const drifted = (id, nats) => report(id, { gate: { drift: { nats, replies: 24, unasked: 0 } } });
  const measured = alone(1, drifted('a', 0.5), drifted('b', 0.25), drifted('c', null), report('d', { gate: null }));
  assert.deepEqual(figuresOf(measured).drift_nats, { mean: 0.375, least: 0.25, most: 0.5 });
  assert.equal(figuresOf(runs).drift_nats, null);
});

test('of a chain its end tells', () => {
  const retention = (after, allAfter) => ({
    first_id: 'a',
    learned_count: 2,
    before: tally(8),
    after: tally(after),
    all_before: tally(14, 20),
    all_after: tally(allAfter, 20),
  });
  const reports = [
    report('a'),
    report('b', { retention: retention(7, 13) }),
    report('c', { retention: retention(4, 7) }),
  ];
  const { chain } = figuresOf([...runs, { part: 'chain', seed: 1, reports }]);
  assert.deepEqual(
    [chain.first_before, chain.first_after, chain.earlier_after, chain.first_kept, chain.earlier_kept].map(
      ({ mean }) => mean,
    ),
    [0.8, 0.4, 0.35, 0.5, 0.5],
  );
});

test('the plot has all that was published, and three measures of ours', () => {
  const chart = plot({ model: { parameters: 7 }, paragraphs: 2, seeds: [1, 2], figures: figuresOf(runs) });
  assert.equal([...chart.matchAll(/<title>/g)].length, 6 + 3 * 4);
});
