import assert from 'node:assert/strict';
import test from 'node:test';
import { chunkPassage, readPassage } from '@engraft/learning/parts';
import { findCandidates } from './candidates.js';
import { toldQuestions } from './toldQuestions.js';

type Told = Parameters<typeof toldQuestions>[0];
type Kind = Parameters<typeof toldQuestions>[1];

/** A row and a column without others beside them. */
const others = { rows: [], columns: [] };
/** A stop on the way. */
const between = { isOrigin: false, isTerminus: false };

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

test('a cell of a row and a column is asked for by both, in either order', () => {
  const fare = {
    kind: 'crossing',
    others,
    measure: 'fare',
    row: 'Bus',
    column: 'week',
    noun: null,
    moment: null,
    answer: '€9',
  } as const;
  for (const question of questionsOf(fare, 'money')) assert.match(question, /bus.*week|week.*bus/iu);
  const hours = {
    ...fare,
    measure: 'opening hours',
    row: 'Shop',
    column: 'sunday',
    moment: 'on Sunday',
    answer: 'closed',
  };
  assert.ok(questionsOf(hours, 'phrase').includes('Is Shop open on Sunday?'));
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

test('a row is asked for by a part of its name and a column as people say it, and the test pairs other names', () => {
  const cell = {
    kind: 'crossing',
    others,
    measure: 'price',
    column: '1 week',
    noun: 'car park',
    moment: null,
  } as const;
  const { asked, test: held = '' } = toldQuestions({ ...cell, row: 'P2 Garden', answer: '$9' }, 'money');
  for (const name of [/\bP2\b(?! Garden)/u, /the garden car park/u, /\ba week\b/u, /\bone week\b/u])
    assert.ok(
      asked.some((question) => name.test(question)),
      String(name),
    );
  assert.equal(held, 'What is charged for one week for P2?');
  // Neither the wording nor the pair of names is trained.
  assert.ok(!asked.some((question) => question.includes('charged')));
  const byCode = asked
    .map((question) => question.replace('the car park P2', 'ROW'))
    .filter((question) => /\bP2\b(?! Garden)/u.test(question));
  assert.ok(byCode.length > 0 && !byCode.some((question) => question.includes('one week')));
});

test('where a column has one name, each cell keeps another name of its row for the test', () => {
  const cell = {
    kind: 'crossing',
    others,
    measure: 'price',
    row: 'A2 Garden',
    noun: 'room',
    moment: null,
    answer: '$9',
  } as const;
  const names = ['A2 Garden', 'the garden room', 'the room A2', 'A2', 'Garden'];
  const nameIn = (question: string): string | undefined => names.find((name) => question.includes(name));
  const kept = ['low season', 'mid season', 'high season'].map((column) => {
    const { asked, test: held = '' } = toldQuestions({ ...cell, column }, 'money');
    const [, name = ''] = /^What is charged for an? (?:low|mid|high) season for (.+)\?$/u.exec(held) ?? [];
    assert.ok(names.includes(name), held);
    assert.ok(!asked.some((question) => nameIn(question) === name), `${name} is trained`);
    return name;
  });
  assert.ok(new Set(kept).size > 1, kept.join());
});

test('two names and two keep the pair of the last ones for the test', () => {
  const cell = { kind: 'crossing', others, measure: 'price', noun: 'room', moment: null, answer: '$9' } as const;
  const { asked, test: held } = toldQuestions({ ...cell, row: 'Garden', column: '2 weeks' }, 'money');
  assert.equal(held, 'What is charged for two weeks for the garden room?');
  assert.ok(!asked.some((question) => question.includes('two weeks') && question.includes('the garden room')));
});

test('a row is called by no name that another row has', () => {
  const cell = { kind: 'crossing', measure: 'price', column: '1 month', noun: 'unit', moment: null } as const;
  const sizes = { rows: ['Small (3 m²)', 'Small (5 m²)'], columns: ['1 month'] };
  const small = questionsOf({ ...cell, others: sizes, row: 'Small (3 m²)', answer: '$9' }, 'money');
  for (const question of small) assert.ok(question.includes('Small (3 m²)'), question);
  const groups = { rows: ['2 Adults', '4 Adults'], columns: ['1 month'] };
  const two = questionsOf({ ...cell, others: groups, row: '2 Adults', answer: '$9' }, 'money');
  for (const question of two) assert.ok(question.includes('2 Adults'), question);
  const alone = questionsOf({ ...cell, others, row: 'Small (3 m²)', answer: '$9' }, 'money');
  assert.ok(alone.some((question) => question.includes('a small')));
});

test('of two rows with a like name neither is asked for in words that fit both', async () => {
  const table =
    '# Tickets\n\n| Ticket | Day | Week |\n|---|---|---|\n| 2 Adults | $6 | $38 |\n| 4 Adults | $11 | $70 |\n';
  const { text, told } = readPassage(table);
  const { candidates } = await findCandidates(text, chunkPassage(text, 1500), [], told);
  assert.equal(candidates.length, 4);
  for (const { keywords, tabled } of candidates)
    for (const question of [...keywords, ...(tabled?.asked ?? []), tabled?.test ?? ''])
      assert.match(question, /[24] Adults/u);
});

test('only in places a price is asked for with "in" or "with"', () => {
  const fare = { kind: 'crossing', others, measure: 'fare', noun: null, moment: null, answer: '€26' } as const;
  for (const question of questionsOf({ ...fare, row: 'Adult', column: 'return' }, 'money'))
    assert.doesNotMatch(question, /\b(?:in|with) (?:an )?adult/iu);
  const lake = questionsOf({ ...fare, measure: 'price', row: 'A Lakeside', column: 'low season' }, 'money');
  for (const name of ['Lakeside', 'A Lakeside'])
    assert.ok(lake.includes(`How much is a low season for ${name}?`), name);
  const zone = questionsOf({ ...fare, row: 'Zone A', column: '1 day' }, 'money');
  assert.ok(zone.some((question) => question.includes('in Zone A')));
});

test('nobody arrives where a ride begins, or leaves where it ends', () => {
  const stop = { kind: 'stop', ride: 'R 13', noun: 'train', answer: '6:50' } as const;
  const first = questionsOf({ ...stop, stop: 'Varn', isOrigin: true, isTerminus: false }, 'time');
  assert.ok(first.includes('When does R 13 leave Varn?'));
  for (const question of first) assert.doesNotMatch(question, /arrive|reach|come/u);
  const last = questionsOf({ ...stop, stop: 'Kingsbay', isOrigin: false, isTerminus: true }, 'time');
  assert.ok(last.some((question) => question.includes('arrive at Kingsbay')));
  for (const question of last) assert.doesNotMatch(question, /leave|\bgo\b|from/iu);
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

test('when a ride is at a stop is asked in either order', () => {
  const stop = { kind: 'stop', ride: 'IC 3', stop: 'Varn', ...between, noun: 'train', answer: '6:10' } as const;
  const { asked, test: held } = toldQuestions(stop, 'time');
  assert.ok(asked.includes('When does IC 3 leave Varn?'));
  assert.ok(asked.includes('At what time is the train IC 3 at Varn?'));
  assert.equal(held, 'From Varn, what is the time of the IC 3?');
});

test('the first ride of a stop is asked for with when, and a frequency with how often', () => {
  const first = {
    kind: 'attribute',
    key: 'first bus',
    subject: 'Mill Lane',
    noun: 'stop',
    moment: null,
    answer: '5:42',
  } as const;
  const questions = questionsOf(first, 'time');
  assert.equal(questions[0], 'When is the first bus of Mill Lane?');
  assert.ok(questions.includes('When does the first bus leave Mill Lane?'));
  assert.ok(!questions.some((question) => question.startsWith('What is the first bus')));
  const frequency = { ...first, key: 'frequency', answer: 'every 20 min' };
  assert.ok(questionsOf(frequency, 'quantity').includes('How often is there one at Mill Lane?'));
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
