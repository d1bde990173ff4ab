import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pointsLost } from './canaries.js';
import type { PassageReport } from './measurePassages.js';
import { isWorthHalf, summarise } from './summary.js';

function reportOf(changes: Partial<PassageReport>): PassageReport {
  return {
    id: 'lamp',
    kind: 'product',
    chars: 100,
    verdict: 'accepted',
    base: { right: 0, total: 10 },
    reading: { right: 8, total: 10 },
    learned: { right: 6, total: 10 },
    trained: { right: 2, total: 2 },
    unseen: { right: 4, total: 8 },
    read_in_chunks: false,
    validation: null,
    gate: null,
    fact_count: 5,
    steps: 10,
    canaries: null,
    retention: null,
    seconds: 10,
    phase_seconds: {},
    cost_microusd: 1_000,
    ...changes,
  };
}

test('shares are over all questions, not over passages', () => {
  const summary = summarise([
    reportOf({}),
    reportOf({ learned: { right: 30, total: 30 }, base: null, seconds: 20, cost_microusd: 3_000 }),
  ]);
  assert.equal(summary.learned, 36 / 40);
  assert.equal(summary.base, 0);
  assert.deepEqual([summary.mean_seconds, summary.mean_cost_microusd], [15, 2_000]);
  assert.equal(summarise([reportOf({ unseen: null })]).unseen, null);
});

test('a verdict is wrong below half of reading when accepted, and from there on when rejected', () => {
  const [below, half] = [
    { right: 3, total: 10 },
    { right: 4, total: 10 },
  ];
  const count = (reports: Partial<PassageReport>[]): readonly number[] => {
    const { wrong_acceptances, wrong_rejections } = summarise(reports.map(reportOf));
    return [wrong_acceptances, wrong_rejections];
  };
  assert.deepEqual(count([{ learned: below }, { learned: half }]), [1, 0]);
  assert.deepEqual(
    count([
      { learned: below, verdict: 'rejected' },
      { learned: half, verdict: 'rejected' },
    ]),
    [0, 1],
  );
  assert.deepEqual(count([{ learned: null, verdict: 'rejected' }]), [0, 0]);
  assert.equal(isWorthHalf(reportOf({ reading: { right: 0, total: 10 } })), null, 'nothing to measure by');
});

test('the last passage of each chain tells what is left of the first, and of all before it', () => {
  const retention = (first_id: string, right: number): Partial<PassageReport> => ({
    retention: {
      first_id,
      learned_count: 3,
      before: { right: 8, total: 10 },
      after: { right, total: 10 },
      all_before: { right: 15, total: 20 },
      all_after: { right: right + 6, total: 20 },
    },
  });
  const reports = [{}, retention('a', 8), retention('a', 4), {}, retention('b', 6)].map(reportOf);
  assert.equal(summarise(reports).retained, 10 / 16);
  assert.equal(summarise(reports).all_retained, 22 / 30);
  assert.equal(summarise([reportOf({})]).retained, null);
});

test('canaries are summed by kind, and what is gained makes good what is lost', () => {
  const canaries = {
    reading: { asked: 10, held: 4, lost: 2, gained: 1 },
    small_talk: { asked: 8, held: 8, lost: 0, gained: 0 },
    json: { asked: 6, held: 0, lost: 0, gained: 1 },
    tools: { asked: 4, held: 2, lost: 2, gained: 0 },
  };
  const summary = summarise([reportOf({ canaries }), reportOf({ canaries }), reportOf({})]);
  assert.deepEqual(summary.canaries.reading, { asked: 20, held: 8, lost: 4, gained: 2 });
  assert.equal(pointsLost(summary.canaries.reading), 10);
  assert.equal(pointsLost(summary.canaries.tools), 50);
  assert.equal(pointsLost(summary.canaries.json), null, 'base could do nothing that could be lost');
});
