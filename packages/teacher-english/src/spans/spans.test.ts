import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clozeQuestions } from '../questions/cloze.js';
import { sentencesOf } from '@engraft/learning/parts';
import { findSpans } from './spans.js';

function spansOf(text: string): string[] {
  return sentencesOf(text).flatMap((sentence) => findSpans(sentence, text).map((span) => `${span.kind} ${span.text}`));
}

test('names, with titles, initials and links', () => {
  assert.deepEqual(spansOf('Dr. Maria Ochoa met J. R. Silva at the University of Coimbra in Porto.'), [
    'name Dr. Maria Ochoa',
    'name J. R. Silva',
    'name University of Coimbra',
    'name Porto',
  ]);
  assert.deepEqual(spansOf("The Lume Lamp stands beside Anna's bed."), ['name Lume Lamp', 'name Anna']);
});

test('quantities, money, dates, times, codes and quotations', () => {
  assert.deepEqual(spansOf('It costs $49 and weighs 1.2 kilograms.'), ['money $49', 'quantity 1.2 kilograms']);
  assert.deepEqual(spansOf('On 4 May 2021 at 6:30 a.m. about 35% of 1,200 rooms closed.'), [
    'date 4 May 2021',
    'time 6:30 a.m.',
    'quantity 35%',
    'quantity 1,200 rooms',
  ]);
  assert.deepEqual(spansOf('Model LX-204 is sold as "Night Owl" since 1987.'), [
    'code LX-204',
    'quotation Night Owl',
    'date 1987',
  ]);
});

test('a value is found whole, or not at all', () => {
  for (const [text, span] of [
    ['It raised $1.2M in all.', 'money $1.2M'],
    ['They lost $3bn.', 'money $3bn'],
    ['It costs 7,50 €.', 'money 7,50 €'],
    ['USD 50 is due.', 'money USD 50'],
    ['It has 350k users.', 'quantity 350k users'],
    ['It weighs 1,5 kg.', 'quantity 1,5 kg'],
    ['It weighs 20kg.', 'quantity 20kg'],
    ['It runs at 2.4GHz.', 'quantity 2.4GHz'],
    ['It has 1 000 000 people.', 'quantity 1 000 000 people'],
    ['Take 1/2 cup.', 'quantity 1/2 cup'],
    ['Take 1½ cups.', 'quantity 1½ cups'],
    ['It has two hundred and fifty seats.', 'quantity two hundred and fifty seats'],
    ['It has a hundred and one seats.', 'quantity a hundred and one seats'],
    ['About two hundred of them came.', 'quantity two hundred'],
    ['It is stored at -20 °C.', 'quantity -20 °C'],
    ['It is 5°C warm.', 'quantity 5°C'],
    ['Go to https://varn.example/apply now.', 'code https://varn.example/apply'],
    ['Under 12 pay 3 euros.', 'quantity 12'],
  ] as const)
    assert.equal(spansOf(text)[0], span, text);
  for (const text of ['The ratio is 16:9.', 'Choose 1,5,7.']) assert.deepEqual(spansOf(text), [], text);
});

test('how often, where it is no conjunction and no comparison', () => {
  assert.deepEqual(spansOf('Loans can be renewed twice.'), ['quantity twice']);
  assert.deepEqual(spansOf('We meet once a week and paint three times a year.'), [
    'quantity once a week',
    'quantity three times a year',
  ]);
  assert.deepEqual(spansOf('Once it rained, it cost twice as much, and it was once a mill.'), ['phrase mill']);
});

test('a word that only opens a sentence is no name', () => {
  assert.deepEqual(spansOf('Fresh bread is baked here.'), []);
  assert.deepEqual(spansOf('Maria bakes. We thank Maria daily.').slice(0, 1), ['name Maria']);
});

test('a common word is no name even where it opens a sentence before its verb', () => {
  assert.ok(!spansOf('Today the club met. Today the club won.').includes('name Today'));
  for (const word of ['Spelling', 'Dinner', 'Membership', 'Advertising', 'Everybody', 'Air']) {
    assert.ok(!spansOf(`${word} is free for guests of Velona.`).includes(`name ${word}`), word);
  }
  assert.deepEqual(spansOf('Velona is free.').slice(0, 1), ['name Velona']);
});

test('a common word is a name of whom things are said that are said of companies and people only', () => {
  assert.ok(spansOf('Compass was founded in 1999. Compass has 40 employees.').includes('name Compass'));
  assert.ok(spansOf('Hope was born in 1987.').includes('name Hope'));
  assert.ok(!spansOf('Dinner is served at seven. Dinner costs 12 euros.').includes('name Dinner'));
});

test('a version belongs to its name, which is one by itself as well', () => {
  const names = spansOf('Quillpad 4.2 came out in May. Quillpad no longer runs.').filter((span) =>
    span.startsWith('name'),
  );
  assert.deepEqual(names, ['name Quillpad 4.2', 'name Quillpad']);
  assert.deepEqual(spansOf('The part by Orlo weighs 4.2 kilograms.'), ['name Orlo', 'quantity 4.2 kilograms']);
});

test('a price or a time after a capital is no version', () => {
  assert.ok(spansOf('Entry costs: Adults 7.50 euros, Children 3.50 euros.').includes('quantity 7.50 euros'));
  assert.ok(spansOf('She left Oslo 2.5 hours late.').includes('quantity 2.5 hours'));
  assert.ok(spansOf('On Fridays 8.5 euros are due.').includes('quantity 8.5 euros'));
  assert.ok(!spansOf('In Room 12 we met.').includes('name Room 1'));
});

test('the number of a model belongs to its name, that of a room does not', () => {
  assert.deepEqual(spansOf('The Ibis M3 is new.'), ['name Ibis M3', 'phrase new']);
  assert.ok(spansOf('They meet in Room B12.').includes('code B12'));
  assert.deepEqual(spansOf('The TX-40 weighs 2 kilograms.'), ['name TX-40', 'quantity 2 kilograms']);
  assert.ok(spansOf('Take the A4 to Bath.').includes('name A4'));
  assert.ok(spansOf('The US-101 runs along the coast.').includes('name US-101'));
});

test('who are many of a name are not called by it', () => {
  assert.deepEqual(spansOf('Customers of Juniper & Rook wait.'), ['name Juniper & Rook']);
  assert.deepEqual(spansOf('He left the University of Oslo.'), ['name University of Oslo']);
  assert.deepEqual(spansOf('James of Arden has waited.').slice(0, 1), ['name James of Arden']);
  assert.deepEqual(spansOf('Friends of Larkwood Library is old.').slice(0, 1), ['name Friends of Larkwood Library']);
});

test('an order at the beginning of a sentence is no part of the name after it', () => {
  assert.deepEqual(spansOf('Call Ines Marder on 555-0142.').slice(0, 1), ['name Ines Marder']);
  assert.deepEqual(spansOf('Call centres are closed.'), ['phrase closed']);
});

test('the number of a name belongs to it, and a word that begins like a number is none', () => {
  assert.deepEqual(spansOf('The Melisande 61 is a piano with 61 keys.'), [
    'name Melisande 61',
    'phrase piano',
    'quantity 61 keys',
  ]);
  assert.deepEqual(
    spansOf('Its tent is the Kestral Two.').filter((span) => !span.startsWith('phrase')),
    ['name Kestral Two'],
  );
  assert.deepEqual(spansOf('It plays 24 different sounds.'), ['quantity 24 different sounds']);
  assert.deepEqual(spansOf('One plays for one week.'), ['quantity one week']);
});

test('phrases that end a clause', () => {
  assert.deepEqual(spansOf('The gate opens with a brass key.'), ['phrase brass key']);
  assert.deepEqual(spansOf('The shop is painted green, and nobody minds.'), ['phrase green']);
});

test('phrases that a function word follows, members of lists, values after a colon, and colours', () => {
  assert.deepEqual(spansOf('She learned to cook on a ferry between two islands.').slice(0, 1), ['phrase ferry']);
  assert.deepEqual(spansOf('The ship is made of oak.'), ['phrase oak']);
  assert.deepEqual(spansOf('It is sold with cheese, walnuts and honey.'), [
    'phrase cheese',
    'phrase walnuts',
    'phrase honey',
  ]);
  assert.deepEqual(spansOf('Outer fabric: waxed cotton'), ['phrase waxed cotton']);
  assert.deepEqual(spansOf('Show the pale green card.').slice(0, 1), ['phrase pale green']);
});

test('reasons as a whole', () => {
  assert.deepEqual(spansOf('It was put off because the key did not fit, and nobody minded.').slice(0, 1), [
    'phrase the key did not fit',
  ]);
});

test('addresses, settings, versions, votes, ranges and times of the day', () => {
  assert.deepEqual(spansOf('Write to ink@pen.org.'), ['code ink@pen.org']);
  assert.deepEqual(spansOf('Set page_limit in /etc/pen/main.cfg first.'), [
    'code page_limit',
    'code /etc/pen/main.cfg',
  ]);
  assert.deepEqual(spansOf('Firmware 2.7.5 and v4 are affected.').slice(0, 2), ['code 2.7.5', 'code v4']);
  assert.deepEqual(spansOf('They agreed by 9 votes to 5.'), ['quantity 9 votes to 5']);
  assert.deepEqual(spansOf('It takes 4 to 8 days.'), ['quantity 4 to 8 days']);
  assert.deepEqual(spansOf('We eat at half past ten and at 1.30 pm.'), ['time half past ten', 'time 1.30 pm']);
});

test('spans stand where they say, and never overlap', () => {
  const words = fc.constantFrom(
    'Anna',
    'the',
    '4',
    'May',
    '2021',
    'of',
    'Dr.',
    'rooms',
    '$5',
    ',',
    '.',
    'X-1',
    '"',
    '%',
    'is',
    'red',
    'ten',
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 30 }), (parts) => {
      const text = parts.join(' ');
      for (const sentence of sentencesOf(text)) {
        let end = sentence.start;
        for (const span of findSpans(sentence, text)) {
          assert.equal(text.slice(span.start, span.end), span.text);
          assert.ok(span.start >= end && span.end <= sentence.end && span.text.trim() !== '');
          end = span.end;
        }
      }
    }),
  );
});

test('cloze forms take the sentence before along where they would be ambiguous', () => {
  const text = 'The Lume Lamp is new. It weighs about 1.2 kilograms.';
  const [first, second] = sentencesOf(text);
  assert.ok(first !== undefined && second !== undefined);
  const spans = findSpans(second, text);
  assert.deepEqual(clozeQuestions(second, first, spans[0]!, spans), [
    'Complete: The Lume Lamp is new. It weighs about ___.',
    'Complete: The Lume Lamp is new. It weighs about',
  ]);
  assert.deepEqual(clozeQuestions(second, null, spans[0]!, spans), []);
});

test('from one number to another are two answers, and a range is one', () => {
  const text = 'The limit on columns was raised from 256 to 1,600. Delivery takes 4 to 8 days.';
  const found = sentencesOf(text).flatMap((sentence) => findSpans(sentence, text).map((span) => span.text));
  assert.ok(found.includes('256') && found.includes('1,600') && found.includes('4 to 8 days'));
});

test('what is counted belongs to the number, with a word between them', () => {
  assert.ok(spansOf('Each player gets nine wooden sledges.').includes('quantity nine wooden sledges'));
  assert.ok(spansOf('It sells 12 volt batteries.').includes('quantity 12 volt'));
  assert.ok(spansOf('It sells 5 litre cans.').includes('quantity 5 litre'));
  assert.ok(spansOf('All four stay upstairs.').includes('quantity four stay'));
});

test('a colour before its noun, and a thing without what is done with it', () => {
  assert.ok(spansOf('A small amber light blinks.').includes('phrase amber'));
  assert.ok(spansOf('Gullwick is about smuggling salt across a bay.').includes('phrase salt'));
  assert.ok(spansOf('It is made from spring water.').includes('phrase spring water'));
});

test('parts of the day, spans of hours and of days, ordinal dates', () => {
  const moments = (text: string): string[] => spansOf(text).filter((span) => /^(?:time|date) /u.test(span));
  assert.deepEqual(moments('Hoses are shut by eight in the evening.'), ['time eight in the evening']);
  assert.deepEqual(moments('They are handed out at 3.40 in the afternoon.'), ['time 3.40 in the afternoon']);
  assert.deepEqual(moments('Be there from 9 am to 5 pm daily, or between noon and four.'), [
    'time from 9 am to 5 pm',
    'time between noon and four',
  ]);
  assert.deepEqual(moments('Dogs come on Mondays and Fridays.'), ['date Mondays and Fridays']);
  assert.deepEqual(moments('It opens Tuesday to Friday.'), ['date Tuesday to Friday']);
  assert.deepEqual(moments('The talk moved from Tuesday to Thursday.'), ['date Tuesday', 'date Thursday']);
  assert.deepEqual(moments('It was the third of May 1987.'), ['date third of May 1987']);
  // No hours of the day.
  for (const text of [
    'The number rose from nine to fourteen.',
    'The share rose from 5 to 10%.',
    'The club grew from 12 to 15,000.',
    'They sell 40 in the morning.',
    'The Midnight Lantern is a bar.',
  ]) {
    assert.deepEqual(moments(text), [], text);
  }
});

test('fractions, and ordinals that are none', () => {
  const quantities = (text: string): string[] => spansOf(text).filter((span) => span.startsWith('quantity '));
  assert.deepEqual(quantities('The dragon lost a fifth of its health.'), ['quantity a fifth']);
  assert.deepEqual(quantities('One third of the pupils left.'), ['quantity One third']);
  assert.deepEqual(quantities('A fifth member joined in a third-party app.'), []);
});

test('a title in capitals is no name, and an abbreviation is one', () => {
  assert.deepEqual(spansOf('SERVICE MARKET'), []);
  assert.deepEqual(
    spansOf('NASA met the team.').filter((span) => span.startsWith('name')),
    ['name NASA'],
  );
});

test('capitals mark no names where a sentence is all in capitals', () => {
  const names = (text: string): string[] => spansOf(text).filter((span) => span.startsWith('name'));
  assert.deepEqual(names('THE HARBOUR INN HAS 14 ROOMS. PETS ARE NOT ALLOWED IN THE ROOMS.'), []);
  assert.deepEqual(names('The Harbour Inn is old. PETS ARE NOT ALLOWED.'), ['name Harbour Inn']);
  assert.deepEqual(names('The HARBOUR INN of Varn is old.'), ['name HARBOUR INN of Varn']);
  assert.deepEqual(names('We met ESA NASA HQ.'), ['name ESA NASA HQ']);
});
