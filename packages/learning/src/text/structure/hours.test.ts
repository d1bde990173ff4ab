import assert from 'node:assert/strict';
import test from 'node:test';
import { readPassage } from '../plainText.js';

test('a list of days below a question about hours tells the hours of each day', () => {
  const { text, told } = readPassage(
    'Q1. When are you open?\n- Monday to Friday: 6:30 - 22:00\n- Sunday: closed\n\nQ2. Who is it?\nAda Kell.\n',
  );
  assert.match(text, /^When are you open\?$/mu);
  assert.deepEqual(
    [...told].map(([sentence, { answer }]) => [sentence, answer]),
    [
      ['The opening hours on Monday to Friday are from 6:30 to 22:00.', 'from 6:30 to 22:00'],
      ['On Sunday it is closed.', 'closed'],
    ],
  );
});

test('days with other values, and days below other questions, stay as they are', () => {
  assert.match(readPassage('When is it?\n\n- Monday: 6:30 - 22:00\n- Sunday: closed\n').text, /^Sunday: closed/mu);
  assert.match(readPassage('Opening hours?\n\n- Monday: soup\n- Sunday: cake\n').text, /^Sunday: cake/mu);
});
