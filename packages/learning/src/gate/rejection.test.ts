import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseRecipe } from '../testing/recipe.js';
import type { Comparison, GateReason } from '../types.js';
import { nothingCompared } from './gate.js';
import type { Untaught } from './misses.js';
import { describeRejection, type RejectedLearning } from './rejection.js';

const all: readonly GateReason[] = [
  'not_understood',
  'language_not_known',
  'too_few_validated',
  'too_few_passed',
  'not_better_than_parent',
  'earlier_passages_lost',
  'skills_lost',
  'not_measured',
];

function compared(candidate: number, parent: number, total: number): Comparison {
  return { candidate, parent, total, unasked: 0 };
}

function untaught(sentences: readonly number[] = [], listedCount = 0, hasOthers = listedCount > 0): Untaught {
  return { sentences, listedCount, hasOthers };
}

function rejected(reasons: readonly GateReason[], given: Partial<RejectedLearning> = {}): string {
  const learning = {
    reasons,
    counts: nothingCompared,
    recipe: baseRecipe,
    missed: [],
    untaught: untaught(),
    missedCount: given.missed?.length ?? 0,
    ...given,
  };
  const rejection = describeRejection(learning);
  assert.deepEqual(rejection.reasons, reasons);
  return rejection.message;
}

test('every reason says what happened and what helps', () => {
  for (const reason of all) assert.match(rejected([reason]), /^[A-Z].+\. What helps: .+\.$/);
  assert.match(rejected(['too_few_passed', 'skills_lost']), /What helps: .+\. After training .+ What helps: /);
});

test('too few passed: how many, which were not answered, how many are needed', () => {
  const counts = { ...nothingCompared, validation: compared(1, 0, 3) };
  const message = rejected(['too_few_passed'], { counts, missed: ['Who built it?', 'When did it open?'] });
  assert.match(message, /^After training the model answered only 1 of 3 held-out questions; 2 are needed\. /);
  assert.match(message, / Not answered: "Who built it\?", "When did it open\?"\.$/);
  const withOwn = rejected(['too_few_passed'], { counts, missed: ['Who built it?'], missedCount: 3 });
  assert.match(withOwn, / Not answered: "Who built it\?" and 2 more\.$/);
});

test('too few validated: of which sentences nothing was confirmed', () => {
  const counts = { ...nothingCompared, validation: compared(0, 0, 1) };
  const message = rejected(['too_few_validated'], { counts, untaught: untaught([2, 3, 5, 6, 7, 9, 11]) });
  assert.match(message, /^The model confirmed only 1 question to test with; 2 are needed\. /);
  assert.match(message, / Nothing was confirmed about sentences 2, 3, 5, 6, 7 and 2 more\.$/);
});

test('of tables and lists, the untaught values are counted', () => {
  const messageOf = (parts: Untaught): string => rejected(['too_few_validated'], { untaught: parts });
  assert.match(messageOf(untaught([], 1)), / Nothing was confirmed about 1 value of tables or lists\.$/);
  assert.match(
    messageOf(untaught([2], 3)),
    / about sentence 2 \(headings, tables and lists of values not counted\), and 3 values of tables or lists\.$/,
  );
  assert.match(messageOf(untaught([1, 2], 0, true)), / sentences 1, 2 \(headings, .+ not counted\)\.$/);
  assert.doesNotMatch(messageOf(untaught()), /Nothing was confirmed/);
});

// "it names the parts of the passage that were not learned"
test('every reason but of a whole passage is followed by the parts that were not learned, once', () => {
  const parts = / Not answered: "Who built it\?"\. Nothing was confirmed about sentence 4\.$/;
  for (const reason of all.slice(2)) {
    const message = rejected([reason, 'not_measured'], { missed: ['Who built it?'], untaught: untaught([4]) });
    assert.match(message, parts);
    assert.equal(message.split('Who built it?').length, 2);
  }
  for (const reason of all.slice(0, 2))
    assert.doesNotMatch(rejected([reason], { untaught: untaught([1, 2]) }), /sentences 1/);
});

test('what was lost is counted before and after', () => {
  const counts = { ...nothingCompared, retention: compared(1, 10, 12), canaries: compared(3, 20, 24) };
  assert.match(
    rejected(['earlier_passages_lost'], { counts }),
    /answered 1 of 12 questions about earlier passages of this subject, and 10 before\./,
  );
  assert.match(
    rejected(['skills_lost'], { counts }),
    /gave 3 of 24 replies to unrelated prompts as it should, and 20 before\./,
  );
});
