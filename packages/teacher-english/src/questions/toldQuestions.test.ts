import assert from 'node:assert/strict';
import test from 'node:test';
import { chunkPassage, readPassage } from '@engraft/learning/parts';
import { findCandidates } from './candidates.js';
import { toldQuestions } from './toldQuestions.js';

test('a value of a thing is asked for as people ask, whatever the key is', () => {
  const price = {
    kind: 'attribute',
    key: 'price per month',
    subject: 'Pro',
    noun: 'plan',
    moment: null,
    answer: '$29',
  } as const;
  const questions = toldQuestions(price, 'money');
  assert.equal(questions[0], 'What is the price per month of Pro?');
  assert.ok(questions.includes('How much does Pro cost per month?'));
  assert.ok(questions.includes('How much does the plan Pro cost per month?'));
  const maker = {
    kind: 'attribute',
    key: 'maker',
    subject: 'the Tarn 3 kettle',
    noun: null,
    moment: null,
    answer: 'Orlo',
  } as const;
  assert.ok(toldQuestions(maker, 'name').includes('Who makes the kettle?'));
  assert.ok(toldQuestions(maker, 'name').includes('Who makes the Tarn 3?'));
});

test('what a thing has or has not is asked for with yes or no', () => {
  const search = { kind: 'attribute', key: 'search', subject: 'Pro', noun: null, moment: null, answer: 'yes' } as const;
  assert.ok(toldQuestions(search, 'phrase').includes('Does Pro have search?'));
});

test('verbs have the number of the thing', () => {
  const flakes = {
    kind: 'attribute',
    key: 'price',
    subject: 'the oat flakes',
    noun: null,
    moment: null,
    answer: '$3',
  } as const;
  assert.ok(toldQuestions(flakes, 'money').includes('How much do the oat flakes cost?'));
  const stock = {
    kind: 'attribute',
    key: 'stock',
    subject: 'the door bell',
    noun: null,
    moment: null,
    answer: '12',
  } as const;
  assert.ok(toldQuestions(stock, 'quantity').includes('How many door bells are in stock?'));
});

test('a cell of a row and a column is asked for by both, in either order', () => {
  const fare = { kind: 'crossing', measure: 'fare', row: 'Bus', column: 'week', moment: null, answer: '€9' } as const;
  for (const question of toldQuestions(fare, 'money')) assert.match(question, /bus.*week|week.*bus/iu);
  const hours = {
    ...fare,
    measure: 'opening hours',
    row: 'Shop',
    column: 'sunday',
    moment: 'on Sunday',
    answer: 'closed',
  };
  assert.ok(toldQuestions(hours, 'phrase').includes('Is Shop open on Sunday?'));
});

test('what there is on a day is asked for by what such things are', () => {
  const event = { kind: 'event', circumstances: ['on Monday', 'at 9:00'], noun: 'class', answer: 'judo' } as const;
  assert.ok(toldQuestions(event, 'phrase').includes('Which class is on Monday at 9:00?'));
});

test('of a sentence that was made of a cell only its value is asked for, and every cell is taught', async () => {
  const rows = ['Birch', 'Cedar', 'Maple', 'Aspen'].map((room) => `${room},2,12,Ola Nygaard`);
  const { text, told } = readPassage(['Room,Floor,Seats,Contact', ...rows].join('\n'));
  const { candidates } = await findCandidates(text, chunkPassage(text, 1500), [], told);
  assert.equal(candidates.length, 12);
  for (const { sentence, span, tabled } of candidates) {
    assert.equal(span.text, told.get(sentence.text.trim())?.answer);
    assert.ok(tabled.length >= 5);
  }
});

test('a name is asked for to the last character', () => {
  const bag = { kind: 'attribute', key: 'pa$&ge', subject: 'A$&B', noun: null, moment: null, answer: '3' } as const;
  for (const question of toldQuestions(bag, 'quantity')) assert.ok(!/KEY|\{X/u.test(question), question);
  assert.ok(toldQuestions(bag, 'quantity').includes('What is the pa$&ge for A$&B?'));
});

test('a told sentence without its value is read as prose', async () => {
  const text = 'The Tarn 3 costs $249.';
  const lost = { kind: 'moment', subject: 'the Tarn 3', answer: 'on Monday' } as const;
  const { candidates } = await findCandidates(text, chunkPassage(text, 1500), [], new Map([[text, lost]]));
  assert.ok(candidates.some(({ span, tabled }) => span.text === '$249' && tabled.length === 0));
});
