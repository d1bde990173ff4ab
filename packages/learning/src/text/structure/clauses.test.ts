import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPassage } from '../plainText.js';
import { clauseTitles, withoutClauseNumbers } from './clauses.js';

test('the numbers of sections and their clauses go, however they are written', () => {
  assert.equal(
    withoutClauseNumbers(
      '2. Term\n2.1 The lease runs for a year.\n2.2. "Rent" is due on Mondays.\n\n3 Fees\n3.1 $40 is due.',
    ),
    'Term\nThe lease runs for a year.\n"Rent" is due on Mondays.\n\nFees\n$40 is due.',
  );
  assert.equal(
    withoutClauseNumbers('§ 1 Rooms\n(1) The flat has three rooms.\n(2) The cellar is shared.'),
    'Rooms\nThe flat has three rooms.\nThe cellar is shared.',
  );
});

test('the letters of clauses go, too', () => {
  assert.equal(
    withoutClauseNumbers('1. Berth\na) The berth is C-41.\nb) 9.5 metres is the limit.\n\n2. Rent\n(a) It is $40.'),
    'Berth\nThe berth is C-41.\n9.5 metres is the limit.\n\nRent\nIt is $40.',
  );
  assert.equal(
    withoutClauseNumbers('A. Entry\n(i) A ticket is $17.\n(ii) Shoes are lent.\nB. Hours\n(i) It opens at 8:30.'),
    'Entry\nA ticket is $17.\nShoes are lent.\nHours\nIt opens at 8:30.',
  );
  const choice = 'What is the capital?\na) Paris\nb) Rome\n\nA. Miller wrote it.\nVitamin A) Carrots';
  assert.equal(withoutClauseNumbers(choice), choice);
});

test('numbers of houses, days, amounts and lists stay beside those of sections', () => {
  const lease = (first: string, second: string): string =>
    `${first}\n14 Mill Lane, Varn\n12 March 2025\n40 parking spaces\n\n${second}\n1. Two keys\n2. One lamp`;
  assert.equal(
    withoutClauseNumbers(
      `§ 1 Premises\n(1) The flat has three rooms.\n(2) It has a cellar.\n${lease('Annex', 'Handed over')}`,
    ),
    `Premises\nThe flat has three rooms.\nIt has a cellar.\n${lease('Annex', 'Handed over')}`,
  );
});

test('numbers that are none of clauses stay', () => {
  for (const text of [
    '3.2.0 (2025-03-18)\n\n- Dark mode\n\n3.1.4 (2025-01-09)\n\n- A mend',
    '1.0 First release.\n1.1 Adds search.',
    '7.5 The average grew.\n8.2 The sum fell.',
    '1. Mix the flour.\n2. Add 2.5 litres of water.',
    'Rule 4\nIt is 4.5 Metres wide.',
  ])
    assert.equal(withoutClauseNumbers(text), text);
});

test('what such sections are called, and the whole, are titles that tell nothing', () => {
  const terms = 'HOUSE TERMS\n\n1. Rent\n1.1 The rent is $40.\n1.2 It is due on Mondays.\n';
  assert.deepEqual(clauseTitles(terms), ['HOUSE TERMS', 'Rent']);
  const { told } = readPassage(terms);
  assert.deepEqual(
    [...told],
    [
      ['HOUSE TERMS', { kind: 'title', answer: '' }],
      ['Rent', { kind: 'title', answer: '' }],
    ],
  );
  assert.deepEqual(clauseTitles('Rent\n\nThe rent is $40.'), []);
});
