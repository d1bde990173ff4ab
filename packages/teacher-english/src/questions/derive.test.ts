import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveQuestions } from './derive.js';
import { sentencesOf } from '@engraft/learning/parts';
import { findSpans } from '../spans/spans.js';
import { subjectName, withAliases, type Aliases } from '../spans/statement.js';
import { takeApart } from '../english/verbs.js';

/** The questions derived for one answer in a text, with the sentences before it as context. */
function questionsFor(text: string, answer: string): string[] {
  let antecedent: string | null = null;
  let aliases: Aliases = new Map();
  for (const sentence of sentencesOf(text)) {
    const spans = findSpans(sentence, text);
    const span = spans.find((candidate) => candidate.text === answer);
    if (span !== undefined) return deriveQuestions(sentence, span, spans, { protagonist: null, antecedent, aliases });
    antecedent = subjectName(sentence, spans) ?? antecedent;
    aliases = withAliases(aliases, sentence, spans);
  }
  return [];
}

test('a measure is asked of what was measured, or not at all', () => {
  assert.deepEqual(questionsFor('Sorrel Park is surrounded by a wall 3 metres high.', '3 metres'), []);
  assert.deepEqual(questionsFor('The Lume Lamp is sold with a cable 2 metres long.', '2 metres'), []);
  for (const text of ['The Lume Lamp is now about 2 metres long.', 'The Lume Lamp is 2 metres long.'])
    assert.deepEqual(questionsFor(text, '2 metres'), ['How long is the Lume Lamp?']);
});

test('how long, how often and where', () => {
  assert.deepEqual(questionsFor('The library of Varn lends books for 28 days.', '28 days').slice(0, 2), [
    'How long does the library of Varn lend books?',
    'For how long does the library of Varn lend books?',
  ]);
  assert.equal(questionsFor('Films are lent for one week only.', 'one week')[0], 'How long are films lent?');
  assert.deepEqual(questionsFor('A loan can be renewed twice if nobody waits.', 'twice').slice(0, 2), [
    'How often can a loan be renewed?',
    'How many times can a loan be renewed?',
  ]);
  assert.equal(questionsFor('The mill was painted three times.', 'three times')[0], 'How often was the mill painted?');
  assert.equal(
    questionsFor('The boiler is checked once a year.', 'once a year')[0],
    'How often is the boiler checked?',
  );
  assert.equal(
    questionsFor('Drinks are allowed in the reading garden.', 'reading garden')[0],
    'Where are drinks allowed?',
  );
  assert.equal(questionsFor('The museum opens in the morning.', 'morning')[0], 'When does the museum open?');
  assert.deepEqual(questionsFor('The display now turns itself off after 40 seconds.', '40 seconds'), [
    'After how long does the display turn itself off?',
    'After how many seconds does the display turn itself off?',
  ]);
  assert.equal(
    questionsFor('The new release needs 6 MB more space.', '6 MB')[0],
    'How much more space does the new release need?',
  );
  const pages = questionsFor('The third edition has 48 more pages than the second.', '48');
  assert.equal(pages[0], 'How many more pages does the third edition have than the second?');
  assert.equal(
    questionsFor('The old address still works until Easter.', 'Easter')[0],
    'Until when does the old address work?',
  );
  const old = questionsFor('Ada wrote on an old piano that was never tuned.', 'old piano');
  assert.equal(old[0], 'Where did Ada write?');
  const mountains = questionsFor('She worked in the mountains of Talvera.', 'mountains');
  assert.ok(
    mountains.every((question) => !question.startsWith('Where')),
    mountains.join(' '),
  );
});

test('a name after its noun is asked for with the noun', () => {
  const restaurant = 'Jarek Mendel runs the restaurant Blue Thimble in Osterwick.';
  assert.equal(questionsFor(restaurant, 'Blue Thimble')[0], 'Which restaurant does Jarek Mendel run?');
  assert.deepEqual(questionsFor('The voice was recorded by the actress Calla Winters.', 'Calla Winters'), [
    'By which actress was the voice recorded?',
    'By whom was the voice recorded?',
  ]);
  assert.equal(questionsFor('Ada Kell lost her left hand.', 'left hand')[0], 'What did Ada Kell lose?');
  assert.equal(
    questionsFor('The inn of Varn has only 14 seats.', '14 seats')[0],
    'How many seats does the inn of Varn have?',
  );
});

test('verbs are taken apart', () => {
  for (const [verb, auxiliary, infinitive] of [
    ['weighs', 'does', 'weigh'],
    ['carries', 'does', 'carry'],
    ['teaches', 'does', 'teach'],
    ['has', 'does', 'have'],
    ['designed', 'did', 'design'],
    ['moved', 'did', 'move'],
    ['stopped', 'did', 'stop'],
    ['studied', 'did', 'study'],
    ['created', 'did', 'create'],
    ['opened', 'did', 'open'],
    ['built', 'did', 'build'],
  ] as const) {
    assert.deepEqual(takeApart(verb), { auxiliary, infinitive });
  }
  assert.equal(takeApart('press'), null);
});

test('a circumstance that opens a sentence is set aside, a clause is not cut in two', () => {
  const ada = 'Ada Kell owned a mill. ';
  assert.deepEqual(questionsFor(`${ada}After the accident she walked with a stick.`, 'stick'), [
    'What did Ada Kell walk with?',
  ]);
  assert.deepEqual(questionsFor(`${ada}After the fire destroyed the mill it was rebuilt in 1994.`, '1994'), []);
  assert.deepEqual(questionsFor(`${ada}After 1994, the mill was a barn.`, '1994'), []);
});

test('subjects, objects and places are asked for', () => {
  const lamp = 'The Lume Lamp weighs 2 kg. Maria Ochoa designed the shade in 2019. Sorrel Park lies in Kesten.';
  assert.deepEqual(questionsFor(lamp, '2 kg'), ['What does the Lume Lamp weigh?']);
  assert.equal(questionsFor(lamp, 'Maria Ochoa')[0], 'Who designed the shade in 2019?');
  assert.equal(questionsFor(lamp, '2019')[0], 'When did Maria Ochoa design the shade?');
  assert.equal(questionsFor(lamp, 'Kesten')[0], 'Where does Sorrel Park lie?');
});

test('the rest of the sentence is left out first', () => {
  const ship = 'The Grey Heron was built in Gdansk in 1994.';
  assert.equal(questionsFor(ship, 'Gdansk')[0], 'Where was the Grey Heron built?');
  assert.equal(questionsFor(ship, '1994')[0], 'When was the Grey Heron built?');
});

test('quantities are asked for by their unit or their adjective', () => {
  assert.equal(questionsFor('The Grey Heron is 62 metres long.', '62 metres')[0], 'How long is the Grey Heron?');
  assert.equal(questionsFor('Velona has 75 employees.', '75 employees')[0], 'How many employees does Velona have?');
  assert.equal(questionsFor('A ticket costs 4 pounds.', '4 pounds')[0], 'How much does a ticket cost?');
});

test('pronouns and common nouns are replaced by what they stand for', () => {
  const text = 'Sorrel Park is old. It was opened in 1977. The park covers 90 hectares. Its founder is Otto Brandt.';
  assert.equal(questionsFor(text, '1977')[0], 'When was Sorrel Park opened?');
  assert.equal(questionsFor(text, '90 hectares')[0], 'How many hectares does Sorrel Park cover?');
  assert.equal(questionsFor(text, 'Otto Brandt')[0], "Who is Sorrel Park's founder?");
  assert.deepEqual(questionsFor('It was opened in 1977.', '1977'), [], 'nothing to stand for');
});

test('what opens a sentence is asked for too', () => {
  const text = 'In 2022 the company moved to Canal Road.';
  assert.equal(questionsFor(text, '2022')[0], 'When did the company move to Canal Road?');
  assert.equal(questionsFor(text, 'Canal Road')[0], 'Who did the company move to?');
});

test('a reason is asked for with why', () => {
  assert.deepEqual(questionsFor('The Lume Lamp was renamed because nobody knew it.', 'nobody knew it'), [
    'Why was the Lume Lamp renamed?',
  ]);
});

test('each half of a sentence is asked about by itself', () => {
  const shops = 'Ada Kell runs the mill, and Bo Lind runs the shop in Varn.';
  assert.equal(questionsFor(shops, 'Bo Lind')[0], 'Who runs the shop in Varn?');
  assert.equal(questionsFor(shops, 'Varn')[0], 'Where does Bo Lind run the shop?');
  assert.equal(questionsFor(shops, 'Ada Kell')[0], 'Who runs the mill?');
  const hours = 'The museum opens at 9:00, while the Harbour Café closes at 17:30; it was built in 1990.';
  assert.equal(questionsFor(hours, '17:30')[0], 'When does the Harbour Café close?');
  assert.equal(
    questionsFor('Sorrel Park lies in Kesten and it covers 90 hectares.', '90 hectares')[0],
    'How many hectares does Sorrel Park cover?',
  );
  assert.equal(questionsFor('Ada Kell sells pears, and Bo Lind.', 'Bo Lind').length, 0, 'no clause');
});

test('a number after "at" may be an age', () => {
  const left = 'Ada Kell left school at thirteen.';
  assert.deepEqual(questionsFor(left, 'thirteen').slice(0, 2), [
    'At what age did Ada Kell leave school?',
    'What did Ada Kell leave school at?',
  ]);
  assert.ok(questionsFor('The Lume Index peaked at 61.', '61').includes('What did the Lume Index peak at?'));
  const pool = questionsFor('Tarn Pool admits children under the age of 12.', '12');
  assert.ok(
    pool.every((question) => !question.includes('At what age')),
    pool.join(' '),
  );
});

test('a half of a sentence may begin with a circumstance, and a verb with an adverb', () => {
  const marsh = 'Ada Kell was sent to Senn, and there she nearly died of malaria.';
  assert.equal(questionsFor(marsh, 'malaria')[0], 'What did Ada Kell nearly die of?');
  const mayor = 'Ada Kell ran a mill. She also was mayor of Senn.';
  assert.ok(questionsFor(mayor, 'Senn').every((question) => !question.includes(' be ')));
  const models = questionsFor('Ada Kell sold pears, and later models were sold by Bo Lind.', 'Bo Lind');
  assert.ok(
    models.every((question) => question !== 'By whom were models sold?'),
    models.join(' '),
  );
  const motor = 'The Lume Lamp is bright; on a full charge it shines for 70 hours.';
  assert.equal(questionsFor(motor, '70 hours')[0], 'How long does the Lume Lamp shine?');
});

test('a comma inside a number ends nothing, and a possessive is no verb', () => {
  assert.equal(questionsFor('Tarn Press printed 6,000 copies.', 'Tarn Press')[0], 'Who printed 6,000 copies?');
  const sold = questionsFor('Tarn Press sold Ada Kell 6,000 copies.', 'Ada Kell');
  assert.ok(sold.includes('Who did Tarn Press sell 6,000 copies?'), sold.join(' '));
  const crossing = 'Ada Kell swam. The crossing took a day, and his sister Lioba rowed beside him.';
  assert.deepEqual(
    questionsFor(crossing, 'Lioba').filter((question) => question.includes(' hi ')),
    [],
  );
});

test('people in the plural pay a sum, and the second of two things has its own price', () => {
  assert.ok(questionsFor('Students pay £24 a month.', '£24').includes('How much do students pay a month?'));
  const prices = 'A city bike is 18 euros a day and an e-bike is 35 euros a day.';
  assert.ok(questionsFor(prices, '35 euros').includes('How much is an e-bike a day?'));
});
