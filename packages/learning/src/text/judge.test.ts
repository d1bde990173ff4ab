import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { givesAnswer } from './judge.js';
import { sameAnswer } from './normalise.js';

const judgement = z.object({
  question: z.string(),
  accepted: z.array(z.string()),
  given: z.string(),
  right: z.boolean(),
});

const lines = (await readFile(new URL('../../fixtures/judgements.jsonl', import.meta.url), 'utf8')).trim().split('\n');
const judgements = lines.map((line) => judgement.parse(JSON.parse(line)));

test('of 330 answers judged by hand, seven are judged otherwise, three of them right that are wrong', () => {
  assert.equal(judgements.length, 330);
  const errors = judgements.filter(
    ({ question, accepted, given, right }) => givesAnswer(question, given, accepted) !== right,
  );
  const named = errors.map(({ question, given }) => `${question} ${given}`).join('\n');
  assert.deepEqual([errors.length, errors.filter(({ right }) => !right).length], [7, 3], named);
});

test('an answer may be a sentence, but its words must stand together', () => {
  const gives = (given: string, accepted: readonly string[]): boolean => givesAnswer('What is it?', given, accepted);
  assert.ok(gives('The handle is made of beech wood.', ['beech', 'oak']));
  assert.ok(gives('It costs £4.20, as the return policy says.', ['£4.20']));
  assert.ok(!gives('Wood of any kind but beech.', ['beech wood']));
  assert.ok(!gives('It has 1200 pages.', ['120', '12']));
  assert.ok(!gives('Anything at all.', ['', '.']));
});

test('a number alone is no name that has it', () => {
  assert.ok(!givesAnswer('Where did they appear first?', '2006', ['the 2006 BET Awards']));
  assert.ok(givesAnswer('When did they appear first?', '2006', ['in June 2006']));
  assert.ok(givesAnswer('How much is taken?', '2%', ['just over 2% of it']));
  assert.ok(!givesAnswer('When is it?', 'in', ['in it']));
});

test('a number is given by a sentence that has others, and by no list of numbers', () => {
  const gives = (given: string): boolean => givesAnswer('When did she make it?', given, ['2013']);
  assert.ok(gives('In 2013 she made the Time 100 list for the first time.'));
  assert.ok(gives('2013'));
  assert.ok(!gives('2011, 2012, 2013 or 2014'));
  assert.ok(gives('The first of the albums came out on June 28, 2013, and sold 310,000 copies.'));
  assert.ok(!gives('She made it to the top of all of the lists in 2012-2013.'));
  assert.ok(!gives('In 2012 she made the Time 100 list for the first time.'));
});

test('what stands before a clause that denies something may give the answer', () => {
  const gives = (given: string, answer: string): boolean => givesAnswer('How much does it need?', given, [answer]);
  assert.ok(gives('It needs 6 MB more, so that old models cannot use it.', '6 MB'));
  assert.ok(gives('The mill is run by Ida Kell, not by Tom Reed.', 'Ida Kell'));
  assert.ok(!gives('The mill is run by Ida Kell, not by Tom Reed.', 'Tom Reed'));
  assert.ok(!gives('It is not, as many believe, 6 MB.', '6 MB'));
  assert.ok(!gives('It has 6,000 rows and no longer needs any.', '6'));
  assert.ok(!gives('Whether it needs 6 MB, I do not know.', '6 MB'));
  assert.ok(!gives('It does not need 6 MB, but 8 MB.', '6 MB'));
});

test('a unit in a compound and the dates of a life give an answer, and a name in the genitive gives none', () => {
  const gives = (given: string, answer: string): boolean => givesAnswer('What was it?', given, [answer]);
  assert.ok(!gives('It was Ida Kell’s brother.', 'Ida Kell'));
  assert.ok(gives('It is a stove for a 20-square-metre room.', '20 square metres'));
  assert.ok(!gives('It is a stove for a 120-square-metre room.', '20 square metres'));
  assert.ok(gives('Aurelio Dray (1902–1977) was a botanist of Corlaine.', '1977'));
  assert.ok(!gives('Aurelio Dray was in Corlaine for the years of 1902–1977.', '1977'));
});

test('a sentence that denies something else takes nothing from the one before it', () => {
  const gives = (given: string) => givesAnswer('What is the opposite of dark?', given, ['light']);
  assert.ok(gives('The opposite of dark is light. Light is a form of energy that is not seen.'));
  assert.ok(!gives('The opposite of dark is not light. It is a form of energy.'));
  assert.ok(!gives('I do not know. It is not light.'));
});

test('what is denied is not given, unless the question asks for what is not so', () => {
  assert.ok(!givesAnswer('How far is it?', 'It is not 900 metres but 32.', ['900 metres']));
  assert.ok(!givesAnswer('Who runs it?', "It isn't Mira Voss.", ['Mira Voss']));
  for (const [given, accepted] of [
    ['I cannot say that it is made in Vellamore.', 'Vellamore'],
    ['It is made in Greyminster rather than Vellamore.', 'Vellamore'],
    ['There is no information about that.', 'no'],
    ['Yes, no doubt.', 'no'],
    ['12 or 13 or 14 or 15', '14'],
    ['between 5 and 40 days', '5'],
    ['15 000 euros', '15'],
  ] as const)
    assert.ok(!givesAnswer('What is it?', given, [accepted]), given);
  assert.ok(givesAnswer('What must not be brought?', 'Nuts must not be brought.', ['nuts']));
});

test('a reply that begins with yes or no gives that answer, whatever it denies', () => {
  const gives = (given: string, answer: string): boolean => givesAnswer('Is it open?', given, [answer]);
  assert.ok(gives('Yes, it is open.', 'yes'));
  assert.ok(gives('No, it is not open.', 'no'));
  assert.ok(gives('“No.” It is closed.', 'No.'));
  assert.ok(!gives('No, it is closed.', 'yes'));
  assert.ok(!gives('No, it is not open.', 'open'));
  assert.ok(!gives('No doubt, it is open.', 'no'));
  assert.ok(!gives('No. 5 is open.', 'no'));
  assert.ok(!gives('No-one is there.', 'no'));
});

test('a value is given however people write it', () => {
  for (const [given, accepted] of [
    ['It was Pelé.', 'Pele'],
    ['It is in Zurich.', 'Zürich'],
    ['It has 1 000 seats.', '1000 seats'],
    ['Seats: 12 500', '12,500'],
    ['It weighs 1.5 kg.', '1.50 kg'],
    ['It costs $2.00.', '$2'],
    ['It costs $20 a month.', '20 dollars'],
    ['It opens at 10am.', '10 am'],
    ['It weighs 5kg.', '5 kg'],
    ['It has two hundred and five rooms.', '205'],
  ] as const) {
    assert.ok(givesAnswer('What is it?', given, [accepted]), given);
  }
});

test('a part of a value, and what only looks like one, gives another value', () => {
  for (const [given, accepted] of [
    ['Python 3.10 was the first.', 'Python 3.1'],
    ['1 555 0101', '1555'],
    ['минеральный', 'минеральныи'],
    ['It was -$500.', '$500'],
    ['It was minus 20.', '20'],
    ['Take 1-2 cups.', '1/2 cups'],
    ['It is 10².', '102'],
    ['It takes .5 mg.', '5 mg'],
    ['It got an A-.', 'A'],
    ['It opens at 10 am.', '10 pm'],
  ] as const) {
    assert.ok(!givesAnswer('What is it?', given, [accepted]), given);
  }
});

test('hours are the same with words between them and with a dash', () => {
  for (const [given, accepted] of [
    ['from 9:00 to 14:00', '9:00 – 14:00'],
    ['9:00–14:00', 'from 9:00 to 14:00'],
    ['It is open between 9:00 and 14:00.', '9:00 - 14:00'],
    ['10 am until 4 pm', '10 am – 4 pm'],
  ] as const)
    assert.ok(givesAnswer('When is it open?', given, [accepted]), given);
  assert.ok(!givesAnswer('When is it open?', 'from 9:00 to 18:00', ['9:00 – 14:00']));
  assert.ok(!givesAnswer('When is it open?', '9:00', ['9:00 – 14:00']));
});

test('what is the same after normalisation is given', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (given, accepted) => {
      if (sameAnswer(given, accepted)) assert.ok(givesAnswer('', given, [accepted]));
    }),
  );
});

test('a bare number is a share only where the question asks for per cent', () => {
  assert.ok(!givesAnswer('How much of it is wool?', '35', ['35%']));
  assert.ok(givesAnswer('What percentage is wool?', '35', ['35%']));
  assert.ok(givesAnswer('How much of it is wool?', '35 percent', ['35%']));
});
