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

const told = (passage: string): string[] =>
  [...readPassage(passage).told].flatMap(([text, { answer }]) => (answer === '' ? [] : text));

test('hours are said of the place whose they are', () => {
  const days = (monday: string): string => `- Monday: ${monday}\n- Sunday: closed\n`;
  assert.deepEqual(told(`## Library hours\n\n${days('9:00 - 17:00')}\n## Café hours\n\n${days('7:00 - 18:00')}`), [
    'The Library hours on Monday are from 9:00 to 17:00.',
    'The Library hours on Sunday are: closed.',
    'The Café hours on Monday are from 7:00 to 18:00.',
    'The Café hours on Sunday are: closed.',
  ]);
  assert.deepEqual(told(`# Varn Library\n\n## Opening hours\n\n${days('9:00 - 17:00')}`), [
    'The opening hours of Varn Library on Monday are from 9:00 to 17:00.',
    'Varn Library is closed on Sunday.',
  ]);
  assert.deepEqual(told(`# Help\n\nWhen is the pool open?\n\n${days('9:00 - 17:00')}`), [
    'The opening hours of the pool on Monday are from 9:00 to 17:00.',
    'The pool is closed on Sunday.',
  ]);
});

test('hours of two places without a name are not told', () => {
  const list = (hours: string): string => `## Opening hours\n\n- Monday: ${hours}\n- Sunday: closed\n`;
  assert.deepEqual(told(`${list('9:00 - 17:00')}\n${list('7:00 - 18:00')}`), ['On Sunday it is closed.']);
});

test('a question about opening something else is not about hours', () => {
  assert.deepEqual(told('# Bank\n\nWhen can I open an account?\n\n- Monday: 9:00 - 17:00\n- Sunday: closed\n'), []);
});
