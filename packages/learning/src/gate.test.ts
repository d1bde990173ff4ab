import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gateReasons } from './gate.js';

const good = {
  validation: { candidate: 9, parent: 0, total: 10 },
  retention: { candidate: 8, parent: 10, total: 12 },
  canaries: { candidate: 9, parent: 10, total: 12 },
};

test('the gate says why', () => {
  assert.deepEqual(gateReasons(good), []);
  assert.deepEqual(gateReasons({ ...good, validation: { candidate: 4, parent: 0, total: 10 } }), []);
  assert.deepEqual(gateReasons({ ...good, validation: { candidate: 3, parent: 0, total: 10 } }), ['too_few_passed']);
  assert.deepEqual(gateReasons({ ...good, validation: { candidate: 1, parent: 0, total: 2 } }), ['too_few_passed']);
  for (const total of [0, 1]) {
    assert.deepEqual(
      gateReasons({ ...good, validation: { candidate: total, parent: 0, total } }),
      ['too_few_validated'],
      'one right answer is no evidence',
    );
  }
  assert.deepEqual(gateReasons({ ...good, retention: { candidate: 7, parent: 10, total: 12 } }), [
    'earlier_passages_lost',
  ]);
  assert.deepEqual(gateReasons({ ...good, canaries: { candidate: 5, parent: 10, total: 12 } }), ['skills_lost']);
});

test('learning again what the parent knows passes', () => {
  assert.deepEqual(gateReasons({ ...good, validation: { candidate: 9, parent: 10, total: 10 } }), []);
});
