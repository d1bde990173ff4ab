import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summarise, type PassageReport, type Tally } from '@engraft/evaluation';
import { measuringChart, measuringLines } from './measuringReport.js';

/** A quarter of the right answers match exactly; F1 is 0.8 for each. */
function tallyOf(right: number, total: number): Tally {
  return { right, total, exact: Math.floor(right / 4), f1_sum: 0.8 * right, declined: 0, quoted: 0 };
}

const lamp: PassageReport = {
  id: 'lamp',
  kind: 'product',
  chars: 900,
  verdict: 'accepted',
  base: tallyOf(0, 16),
  reading: tallyOf(12, 16),
  reading_instructed: null,
  learned: tallyOf(11, 16),
  trained: tallyOf(2, 2),
  unseen: tallyOf(9, 14),
  elsewhere: { ...tallyOf(0, 4), declined: 1, quoted: 2 },
  read_in_chunks: false,
  validation: {
    passed: true,
    passed_count: 7,
    total_count: 10,
    base_passed_count: 0,
    retention_passed_count: 0,
    retention_total_count: 0,
  },
  gate: {
    reasons: [],
    canaries: { candidate: 18, parent: 21, total: 24, unasked: 0 },
    drift: { nats: 0.02, replies: 24, unasked: 0 },
  },
  fact_count: 20,
  steps: 180,
  canaries: {
    reading: { asked: 30, held: 20, lost: 2, gained: 1 },
    facts: { asked: 48, held: 30, lost: 2, gained: 1 },
    arithmetic: { asked: 16, held: 6, lost: 1, gained: 1 },
    small_talk: { asked: 16, held: 16, lost: 0, gained: 0 },
    json: { asked: 16, held: 10, lost: 3, gained: 0 },
    tools: { asked: 6, held: 0, lost: 0, gained: 1 },
  },
  retention: null,
  seconds: 20,
  phase_seconds: {},
  cost_microusd: 4_123_456,
};
const ship: PassageReport = {
  ...lamp,
  id: 'ship',
  verdict: 'rejected',
  learned: tallyOf(3, 16),
  unseen: tallyOf(2, 14),
  validation: {
    passed: false,
    passed_count: 3,
    total_count: 10,
    base_passed_count: 1,
    retention_passed_count: 6,
    retention_total_count: 9,
  },
  gate: {
    reasons: ['too_few_passed', 'skills_lost'],
    canaries: { candidate: 11, parent: 20, total: 22, unasked: 2 },
    drift: { nats: 0.614, replies: 22, unasked: 2 },
  },
  retention: {
    first_id: 'lamp',
    learned_count: 2,
    before: tallyOf(11, 16),
    after: tallyOf(9, 16),
    all_before: tallyOf(20, 32),
    all_after: tallyOf(15, 32),
  },
  seconds: 30,
  cost_microusd: 6_000_000,
};

test('a row a passage and one for all, with what is left of the first passage and the canaries lost', () => {
  const reports = [lamp, ship];
  const [head, first, second, all] = measuringLines(reports, summarise(reports)).map((line) => line.split(/ {2,}/u));
  assert.deepEqual(head, 'passage kind verdict base reading learned unseen first earlier lost seconds USD'.split(' '));
  // Nothing is left of a first passage where there was none before.
  assert.deepEqual(first, ['lamp', 'product', 'accepted', '0/16', '12/16', '11/16', '9/14', '8 of 82', '20.0', '4.12']);
  assert.deepEqual(second?.slice(2), [
    'rejected',
    '0/16',
    '12/16',
    '3/16',
    '2/14',
    '9 of 11',
    '15 of 20',
    '8 of 82',
    '30.0',
    '6.00',
  ]);
  assert.deepEqual(all, [
    'all 2',
    '1 accepted, 1 rejected',
    '0 %',
    '75 %',
    '44 %',
    '39 %',
    '82 %',
    '75 %',
    '16 of 164',
    '25.0',
    '5.06',
  ]);
});

test('below them exact match and F1, wrong values, the canaries by kind, the wrong verdicts, and why the gate rejected', () => {
  const reports = [lamp, ship];
  assert.deepEqual(measuringLines(reports, summarise(reports)).slice(-5), [
    'exact match and mean F1, as SQuAD counts them: base 0.0 and 0.0 %, reading 18.8 and 60.0 %, learned 6.3 and 35.0 %',
    'wrong values, rather than "I do not know.", of what was accepted: ' +
      "31 % of the passages' questions (0 % repeat the passage), 75 % of questions about other passages (50 %)",
    'canaries lost: reading 3.3 points (4 of 40 lost, 2 gained), facts 2.1 points (4 of 60 lost, 2 gained), ' +
      'arithmetic 0.0 points (2 of 12 lost, 2 gained), small talk 0.0 points (0 of 32 lost, 0 gained), ' +
      'JSON 18.8 points (6 of 20 lost, 0 gained), tools none held',
    'wrong verdicts: 0 accepted below half of reading, 0 rejected at half of it or more',
    'rejected ship: too_few_passed, skills_lost; validation 3 of 10 (1 before), retention 6 of 9, canaries 11 of 22 (20 before), drift 0.61 nats a token',
  ]);
});

test('the chart has a group for each passage, and three for all of them by each measure', () => {
  const reports = [lamp, ship];
  const chart = measuringChart(reports, summarise(reports));
  const titles = [...chart.matchAll(/<title>(.*?): (\d+) %<\/title>/gu)].map(([, name, share]) => `${name} ${share}`);
  assert.deepEqual(titles.slice(8), [
    ...['all 0', 'all 75', 'all 44', 'all 39'],
    ...['all: exact match 0', 'all: exact match 19', 'all: exact match 6'],
    ...['all: F1 0', 'all: F1 60', 'all: F1 35'],
  ]);
});

test('rows and totals are of the same reading prompt', () => {
  const reports = [lamp, ship].map((report) => ({ ...report, reading_instructed: tallyOf(16, 16) }));
  const [, first, second, all] = measuringLines(reports, summarise(reports)).map((line) => line.split(/ {2,}/u));
  assert.deepEqual([first?.[4], second?.[4]], ['16/16', '16/16']);
  assert.ok(all?.includes('100 %'), all?.join());
});
