import assert from 'node:assert/strict';
import { test } from 'node:test';
import { genderOf } from './wordClasses.js';

test('a title says or hides nothing of the gender of a name, but "Mr" and its like do', () => {
  for (const name of ['Maria Kell', 'Professor Maria Kell', 'Senator Maria', 'the Chancellor Maria Kell', 'Mrs Kell']) {
    assert.equal(genderOf(name), 'female', name);
  }
  for (const name of ['Robert Lind', 'Coach Robert', 'Dr. Robert Lind', 'Mr. Lind']) {
    assert.equal(genderOf(name), 'male', name);
  }
  for (const name of ['Halden Works', 'General Halden', 'the Chancellor', 'Mrak'])
    assert.equal(genderOf(name), null, name);
});
