import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseRecipe } from '../testing/recipe.js';
import type { GateReason } from '../types.js';
import { gateReasons as reasonsOf, type EvaluationCounts } from './gate.js';

function gateReasons(counts: EvaluationCounts): GateReason[] {
  return reasonsOf(counts, baseRecipe);
}

const good = {
  validation: { candidate: 9, parent: 0, total: 10, unasked: 0 },
  retention: { candidate: 8, parent: 10, total: 12, unasked: 0 },
  canaries: { candidate: 9, parent: 10, total: 12, unasked: 0 },
  drift: { nats: 0.1, replies: 12, unasked: 0 },
};

test('the gate says why', () => {
  assert.deepEqual(gateReasons(good), []);
  assert.deepEqual(gateReasons({ ...good, validation: { candidate: 4, parent: 0, total: 10, unasked: 0 } }), []);
  assert.deepEqual(gateReasons({ ...good, validation: { candidate: 3, parent: 0, total: 10, unasked: 0 } }), [
    'too_few_passed',
  ]);
  assert.deepEqual(gateReasons({ ...good, validation: { candidate: 1, parent: 0, total: 2, unasked: 0 } }), [
    'too_few_passed',
  ]);
  for (const total of [0, 1]) {
    assert.deepEqual(
      gateReasons({ ...good, validation: { candidate: total, parent: 0, total, unasked: 0 } }),
      ['too_few_validated'],
      'one right answer is no evidence',
    );
  }
  assert.deepEqual(gateReasons({ ...good, retention: { candidate: 7, parent: 10, total: 12, unasked: 0 } }), [
    'earlier_passages_lost',
  ]);
  assert.deepEqual(gateReasons({ ...good, canaries: { candidate: 5, parent: 10, total: 12, unasked: 0 } }), [
    'skills_lost',
  ]);
});

test('held-out questions that there was no money to ask are not too few questions', () => {
  const validation = { candidate: 1, parent: 0, total: 1, unasked: 47 };
  assert.deepEqual(gateReasons({ ...good, validation }), ['not_measured']);
});

test('learning again what the parent knows passes', () => {
  const again = (candidate: number): readonly string[] =>
    gateReasons({ ...good, validation: { candidate, parent: 20, total: 20, unasked: 0 } });
  assert.deepEqual(again(16), []);
  assert.deepEqual(again(15), ['not_better_than_parent'], 'but most of it must not be forgotten on the way');
});

test('the last of what the parent could do is not lost', () => {
  const last = { candidate: 0, parent: 1, total: 12, unasked: 0 };
  assert.deepEqual(gateReasons({ ...good, retention: last }), ['earlier_passages_lost']);
  assert.deepEqual(gateReasons({ ...good, canaries: last }), ['skills_lost']);
});

test("a candidate to which its parent's replies are far less likely has lost skills", () => {
  const drifted = (nats: number | null): readonly string[] => gateReasons({ ...good, drift: { ...good.drift, nats } });
  const { maxDriftNats } = baseRecipe.evaluating;
  assert.deepEqual(drifted(maxDriftNats + 0.01), ['skills_lost']);
  for (const nats of [maxDriftNats, 0, -1, null]) assert.deepEqual(drifted(nats), []);
});

test('what there was no money to ask does not pass', () => {
  for (const kind of ['retention', 'canaries'] as const) {
    const measured = (total: number): readonly string[] =>
      gateReasons({ ...good, [kind]: { candidate: total, parent: total, total, unasked: 12 - total } });
    assert.deepEqual(measured(0), ['not_measured']);
    assert.deepEqual(measured(5), ['not_measured']);
    assert.deepEqual(measured(6), [], 'half of them say enough');
  }
  const drift = { nats: null, replies: 0, unasked: 0 };
  const nothing = { candidate: 0, parent: 0, total: 0, unasked: 0 };
  assert.deepEqual(
    gateReasons({ ...good, retention: nothing, canaries: nothing, drift }),
    [],
    'there was nothing to ask',
  );
});
