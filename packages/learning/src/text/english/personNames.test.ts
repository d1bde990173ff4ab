import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPersonName } from './personNames.js';

test('a person may have a title, an initial and a particle', () => {
  const people = ['Ada', 'Ada Kell', 'Mayor Ada Kell', 'CEO Clara Holt', 'Dr. Kell', 'Queen Clara', 'Ada M. Kell'];
  for (const name of [...people, 'Clara van Holt']) assert.ok(isPersonName(name), name);
});

test('a title may also begin the name of a thing', () => {
  for (const name of ['Queen Street', 'Coach House', 'Chair Lift', 'Marl Mill', 'CEO', 'the Ada'])
    assert.ok(!isPersonName(name), name);
});
