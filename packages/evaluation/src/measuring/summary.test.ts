import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tally } from './asking.js';
import { pointsLost } from './canaries.js';
import type { PassageReport } from './passageReport.js';
import { isWorthHalf, summarise } from './summary.js';

function tallyOf(right: number, total: number): Tally {
  return { right, total, exact: Math.floor(right / 2), f1_sum: 0.75 * right, declined: 0, quoted: 0 };
}

function reportOf(changes: Partial<PassageReport>): PassageReport {
  return {
    id: 'lamp',
    kind: 'product',
    chars: 100,
    verdict: 'accepted',
    base: tallyOf(0, 10),
    reading: tallyOf(8, 10),
    reading_instructed: null,
    learned: tallyOf(6, 10),
    trained: tallyOf(2, 2),
    unseen: tallyOf(4, 8),
    elsewhere: null,
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
    reportOf({ learned: tallyOf(30, 30), base: null, seconds: 20, cost_microusd: 3_000 }),
  ]);
  assert.equal(summary.learned, 36 / 40);
  assert.equal(summary.base, 0);
  assert.deepEqual([summary.mean_seconds, summary.mean_cost_microusd], [15, 2_000]);
  assert.equal(summarise([reportOf({ unseen: null })]).unseen, null);
  assert.deepEqual(summary.shares.learned, { right: 36 / 40, exact: 18 / 40, f1: (0.75 * 36) / 40 });
  assert.equal(summarise([reportOf({ base: null })]).shares.base, null);
});

test('where nothing was trained, base answers, so that all shares are over the same questions', () => {
  const untrained = reportOf({ verdict: 'rejected', learned: null, base: tallyOf(1, 10) });
  assert.equal(summarise([reportOf({}), untrained]).learned, 7 / 20);
});

test('a verdict is wrong below half of reading when accepted, and from there on when rejected', () => {
  const [below, half] = [tallyOf(3, 10), tallyOf(4, 10)];
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
  assert.equal(isWorthHalf(reportOf({ reading: tallyOf(0, 10) })), null, 'nothing to measure by');
});

test('wrong values are those of what was accepted: neither right nor "I do not know."', () => {
  const declining = { ...tallyOf(6, 10), declined: 2, quoted: 1 };
  const { wrong_values, quoted } = summarise([
    reportOf({ learned: declining, elsewhere: { ...tallyOf(0, 4), declined: 3 } }),
    reportOf({ verdict: 'rejected', learned: tallyOf(0, 10), elsewhere: tallyOf(0, 4) }),
  ]);
  assert.deepEqual(wrong_values, { own: 2 / 10, elsewhere: 1 / 4 });
  assert.deepEqual(quoted, { own: 1 / 10, elsewhere: 0 });
  assert.deepEqual(summarise([reportOf({ verdict: 'rejected' })]).wrong_values, { own: null, elsewhere: null });
});

test('the last passage of each chain tells what is left of the first, and of all before it', () => {
  const retention = (firstId: string, right: number): Partial<PassageReport> => ({
    retention: {
      first_id: firstId,
      learned_count: 3,
      before: tallyOf(8, 10),
      after: tallyOf(right, 10),
      all_before: tallyOf(15, 20),
      all_after: tallyOf(right + 6, 20),
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
    facts: { asked: 40, held: 30, lost: 3, gained: 1 },
    arithmetic: { asked: 16, held: 4, lost: 0, gained: 0 },
    small_talk: { asked: 8, held: 8, lost: 0, gained: 0 },
    json: { asked: 6, held: 0, lost: 0, gained: 1 },
    tools: { asked: 4, held: 2, lost: 2, gained: 0 },
  };
  const summary = summarise([reportOf({ canaries }), reportOf({ canaries }), reportOf({})]);
  assert.deepEqual(summary.canaries.reading, { asked: 20, held: 8, lost: 4, gained: 2 });
  assert.equal(pointsLost(summary.canaries.reading), 10);
  assert.equal(pointsLost(summary.canaries.facts), 5);
  assert.equal(pointsLost(summary.canaries.tools), 50);
  assert.equal(pointsLost(summary.canaries.json), null, 'base could do nothing that could be lost');
});

test('base reads with the prompts that it answers most questions with, over all passages', () => {
  const reports = [
    reportOf({ reading: tallyOf(8, 10), reading_instructed: tallyOf(2, 10) }),
    reportOf({ reading: tallyOf(1, 10), reading_instructed: tallyOf(9, 10), learned: tallyOf(4, 10) }),
  ];
  const summary = summarise(reports);
  assert.equal(summary.reading, 0.55);
  assert.equal(summary.wrong_acceptances, 1, 'the second passage is worth less than half of the better reading');
  assert.equal(summarise(reports.slice(0, 1)).reading, 0.8);
});
