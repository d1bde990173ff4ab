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
    const [, name = ''] = /^In the (?:low|mid|high) season, what is charged for (.+)\?$/u.exec(held) ?? [];
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
    assert.ok(lake.includes(`How much is ${name} in the low season?`), name);
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
