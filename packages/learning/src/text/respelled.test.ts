import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givesAnswer } from './judge.js';

function gives(given: string, accepted: string): boolean {
  return givesAnswer('What is it?', given, [accepted]);
}

test('a date is the same in any order, and its day makes no list with its year', () => {
  for (const [given, accepted] of [
    ['9 June 1871', 'June 9, 1871'],
    ['It was on the 9th of June, 1871.', 'June 9, 1871'],
    ['1871-06-09', '9 June 1871'],
    ['June 9', '9 June'],
    ['Sept. 4', 'September 4'],
    ['It closed on 9 June 1871.', '1871'],
  ] as const)
    assert.ok(gives(given, accepted), `${given} for ${accepted}`);
  for (const [given, accepted] of [
    ['19 June 1871', 'June 9, 1871'],
    ['9 June 1872', 'June 9, 1871'],
    ['1871-09-06', '9 June 1871'],
    ['9 June, 1871 or 1875', '1871'],
  ] as const)
    assert.ok(!gives(given, accepted), `${given} for ${accepted}`);
});

test('money, units and initials are the same in any spelling', () => {
  for (const [given, accepted] of [
    ['EUR 35', '€35'],
    ['35 USD', '$35'],
    ['$2.6m', '$2.6 million'],
    ['It cost $2.6bn in all.', '$2.6 billion'],
    ['1,480 m', '1480 metres'],
    ['31 degrees Celsius', '31 °C'],
    ['K.L.M. Oster', 'K. L. M. Oster'],
  ] as const)
    assert.ok(gives(given, accepted), `${given} for ${accepted}`);
  for (const [given, accepted] of [
    ['GBP 35', '€35'],
    ['$2.6m', '$2.6 billion'],
    ['31 °F', '31 °C'],
    ['K. M. L. Oster', 'K. L. M. Oster'],
  ] as const)
    assert.ok(!gives(given, accepted), `${given} for ${accepted}`);
});
