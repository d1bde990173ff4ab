import assert from 'node:assert/strict';
import test from 'node:test';
import { chunkPassage, readPassage } from '@engraft/learning/parts';
import { findCandidates } from './candidates.js';
import { toldQuestions } from './toldQuestions.js';

type Told = Parameters<typeof toldQuestions>[0];
type Kind = Parameters<typeof toldQuestions>[1];

/** A row and a column without others beside them. */
const others = { rows: [], columns: [] };

/** All that is asked, the sentence itself first. */
function questionsOf(told: Told, kind: Kind): string[] {
  const { restated, asked, test: held = '' } = toldQuestions(told, kind);
  return [restated, ...asked, held];
}

test('a value of a thing is asked for as people ask, whatever the key is', () => {
  const price = {
    kind: 'attribute',
    key: 'price per month',
    subject: 'Pro',
    noun: 'plan',
    moment: null,
    answer: '$29',
  } as const;
  const questions = questionsOf(price, 'money');
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
  assert.ok(questionsOf(maker, 'name').includes('Who makes the kettle?'));
  assert.ok(questionsOf(maker, 'name').includes('Who makes the Tarn 3?'));
});

test('what a thing has or has not is asked for with yes or no', () => {
  const search = { kind: 'attribute', key: 'search', subject: 'Pro', noun: null, moment: null, answer: 'yes' } as const;
  assert.ok(questionsOf(search, 'phrase').includes('Does Pro have search?'));
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
  assert.ok(questionsOf(flakes, 'money').includes('How much do the oat flakes cost?'));
  const stock = {
    kind: 'attribute',
    key: 'stock',
    subject: 'the door bell',
    noun: null,
    moment: null,
    answer: '12',
  } as const;
  assert.ok(questionsOf(stock, 'quantity').includes('How many door bells are in stock?'));
});

test('what there is on a day is asked for by what such things are', () => {
  const event = { kind: 'event', circumstances: ['on Monday', 'at 9:00'], noun: 'class', answer: 'judo' } as const;
  assert.ok(questionsOf(event, 'phrase').includes('Which class is on Monday at 9:00?'));
});

test('of a sentence that was made of a cell only its value is asked for, and every cell is taught', async () => {
  const rows = ['Birch', 'Cedar', 'Maple', 'Aspen'].map((room) => `${room},2,12,Ola Nygaard`);
  const { text, told } = readPassage(['Room,Floor,Seats,Contact', ...rows].join('\n'));
  const { candidates } = await findCandidates(text, chunkPassage(text, 1500), [], told);
  assert.equal(candidates.length, 12);
  for (const { sentence, span, tabled } of candidates) {
    assert.equal(span.text, told.get(sentence.text.trim())?.answer);
    assert.ok(tabled !== null && tabled.asked.length >= 4);
  }
});

test('a name is asked for to the last character', () => {
  const bag = { kind: 'attribute', key: 'pa$&ge', subject: 'A$&B', noun: null, moment: null, answer: '3' } as const;
  for (const question of questionsOf(bag, 'quantity')) assert.ok(!/KEY|\{X/u.test(question), question);
  assert.ok(questionsOf(bag, 'quantity').includes('What is the pa$&ge for A$&B?'));
});

test('a told sentence without its value is read as prose', async () => {
  const text = 'The Tarn 3 costs $249.';
  const lost = { kind: 'moment', subject: 'the Tarn 3', noun: null, answer: 'on Monday' } as const;
  const { candidates } = await findCandidates(text, chunkPassage(text, 1500), [], new Map([[text, lost]]));
  assert.ok(candidates.some(({ span, tabled }) => span.text === '$249' && tabled === null));
});

test('the wording that tests is one for all values of a kind, and is no other question', () => {
  const fares = ['Single', 'Return'].flatMap((column) =>
    ['Adult', 'Child', 'Dog'].map((row, at) => {
      const answer = `€${at + 4}.50`;
      return {
        row,
        column,
        told: { kind: 'crossing', others, measure: 'fare', row, column, noun: null, moment: null, answer } as const,
      };
    }),
  );
  const tests = fares.map(({ told, row, column }) => {
    const { restated, asked, test: held = '' } = toldQuestions(told, 'money');
    assert.notEqual(held, restated);
    assert.ok(!asked.includes(held));
    return held
      .toLowerCase()
      .replace(row.toLowerCase(), 'ROW')
      .replace(column.toLowerCase(), 'COLUMN')
      .replace(/\ban?\b/gu, 'a');
  });
  assert.equal(new Set(tests).size, 1, tests.join('\n'));
});

test('a thing is asked for as people call it', () => {
  const adult = {
    kind: 'crossing',
    others,
    measure: 'fare',
    row: 'Adult',
    column: 'return',
    noun: null,
    moment: null,
    answer: '€26',
  } as const;
  assert.ok(questionsOf(adult, 'money').includes('What does an adult pay for a return?'));
  const zone = { ...adult, row: 'Zone A', column: '1 day' };
  assert.ok(questionsOf(zone, 'money').includes('How much is 1 day for Zone A?'));
  const gym = {
    kind: 'crossing',
    others,
    measure: 'opening hours',
    row: 'Gym',
    column: 'saturday',
    noun: null,
    moment: 'on Saturday',
    answer: 'from 7:00 to 20:00',
  } as const;
  assert.ok(questionsOf(gym, 'time').includes('When is the gym open on Saturday?'));
  assert.ok(questionsOf(gym, 'time').includes('What are the Saturday hours of the gym?'));
  const boxing = { kind: 'moment', subject: 'Boxing', noun: 'class', answer: 'on Wednesday at 11:30' } as const;
  assert.ok(questionsOf(boxing, 'date').includes('When is the boxing class?'));
  assert.ok(questionsOf(boxing, 'date').includes('On which day is boxing?'));
});

test('what is new, due or owed is asked for as people ask', () => {
  const port = {
    kind: 'attribute',
    key: 'default port',
    subject: '',
    noun: null,
    moment: 'now',
    answer: '8443',
  } as const;
  assert.ok(questionsOf(port, 'quantity').includes('What is the new default port?'));
  const release = { ...port, key: 'release date', subject: 'version 3.2.0', moment: null, answer: '2025-03-18' };
  assert.ok(questionsOf(release, 'date').includes('When did 3.2.0 come out?'));
  const due = { ...release, key: 'due date', subject: 'Invoice No. 2025-0417', answer: '11 June 2025' };
  assert.ok(questionsOf(due, 'date').includes('When is the invoice due?'));
  const bowls = { ...release, key: 'qty', subject: 'the soup bowl, grey', answer: '40' };
  assert.ok(questionsOf(bowls, 'quantity').includes('How many grey soup bowls are there?'));
});

test('the frequency of a kettle is none of a bus, and its duration no moment', () => {
  const kettle = { kind: 'attribute', subject: 'Tarn 3', noun: null, moment: null } as const;
  const frequency = { ...kettle, key: 'frequency', answer: '50 Hz' };
  for (const told of [frequency, { ...frequency, noun: 'stop' }, { ...frequency, answer: 'every 20 min' }])
    assert.ok(!questionsOf(told, 'quantity').some((question) => /often|served|interval/u.test(question)));
  const lap = questionsOf({ ...kettle, key: 'lap', answer: '1:02' }, 'time');
  assert.ok(!lap.some((question) => /^When|time is/u.test(question)), lap.join());
  const split = {
    ...kettle,
    kind: 'crossing',
    others,
    row: 'Ada',
    column: 'lap 1',
    measure: null,
    answer: '1:02',
  } as const;
  assert.ok(!questionsOf(split, 'time').some((question) => /^When|time is/u.test(question)));
});

test('hours on a day are asked for with the place whose they are', () => {
  const hours = { kind: 'attribute', key: 'opening hours', noun: null, moment: 'on Monday', answer: '9:00' } as const;
  const questions = questionsOf({ ...hours, subject: 'the library' }, 'time');
  assert.equal(questions[0], 'What are the opening hours of the library on Monday?');
  for (const question of questions) assert.ok(question.includes('library'), question);
});

test('an article is that of the sound', () => {
  const cell = { kind: 'crossing', others, measure: 'price', noun: null, moment: null, answer: '$9' } as const;
  const askedAs = (row: string, column: string): string => questionsOf({ ...cell, row, column }, 'money').join('\n');
  assert.match(askedAs('Adult', 'animal'), /\ban adult\b[^]*\ban animal\b/u);
  assert.match(askedAs('Uniform', 'energy'), /\ba uniform\b[^]*\ban energy\b/u);
  assert.doesNotMatch(askedAs('Adult', 'animal'), /\ba (?:animal|adult)\b/u);
  assert.doesNotMatch(askedAs('Uniform', 'energy'), /\ban uniform\b|\ba energy\b/u);
});

test('whoever has a role is asked for with who, and a document by what it is', () => {
  const owner = {
    kind: 'attribute',
    key: 'landlord',
    subject: 'Garden Lease',
    noun: null,
    moment: null,
    answer: 'Ada Kell',
  } as const;
  const questions = questionsOf(owner, 'name');
  assert.ok(questions.includes('Who is the landlord?'));
  assert.ok(questions.includes('Who is the landlord of the lease?'));
});
