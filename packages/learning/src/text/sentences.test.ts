import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentencesOf } from './sentences.js';

/** Asserts that the parts joined are split into them again. */
function assertSplit(...parts: readonly string[]): void {
  const spaced = parts.map((part, index) => (index < parts.length - 1 && !part.endsWith('\n') ? `${part} ` : part));
  assert.deepEqual(
    sentencesOf(spaced.join('')).map(({ text }) => text),
    spaced,
  );
}

test('a sentence may begin with a digit', () => {
  assertSplit('The mill was built in 1900.', '12 men died there.', '3 fires damaged it.', 'It has 5 floors.');
  assertSplit('The trial enrolled adults in Varn.', '120 patients were randomised.', '45 dropped out.');
  assertSplit('It grew by 5%.', '"12 men" is a song.', '$20 buys it.', '€5 does not.', 'It costs 3 €.', '2 are left.');
  assertSplit('It rains in the U.S.', '12 people left.');
  assertSplit('She lives at 7 Oak St.', '5 trees stand there.');
  assertSplit('It closes at 5 p.m.', '12 guests stay.');
  assertSplit('It lasts 9 sec.', '4 runs failed.', 'The rope is 5 m.', '12 men pulled.');
  assertSplit('He shouted "Stop!"', '3 cars did.');
  assertSplit('It weighs 3.5.', '2020 was better.');
  assertSplit('The room is No. 7.', 'Dr. Silva chairs.');
});

test('a number goes on with the abbreviation before it', () => {
  for (const text of [
    'The room is No. 5 and the bed no. 7 of ten.',
    'See Fig. 3 and figs. 4 or p. 5, pp. 6 or vol. 7, art. 8, sec. 9, ch. 10 of it.',
    'It has approx. 300 rooms, ca. 20 doors and max. 5 guests.',
    'On 3 Jan. 2020 and on Sept. 12, 2019 it rained.',
    'Sie kam am 3. 5. 1990 an, vgl. S. 12 oder Nr. 5 und z. B. 20 mehr.',
    'It is 5 ft. 3 in. tall and 20 in. (51 cm) wide.',
    'Version 3.5 weighs 1.5 kg.',
  ])
    assertSplit(text);
});

test('the number of an item stands in its sentence', () => {
  assertSplit('1. Preheat the oven to 200 °C.\n', '2. Mix 300 g flour and 2 eggs.\n', '   3. Bake for 45 minutes.');
  assertSplit('What helps?\n', '1. Unplug it.\n', '2. 3 minutes later, plug it in.');
  assertSplit('1. The rent is 500 euros.', '2. Notice is 30 days.');
  assertSplit('How many came?', '7.', 'The rest stayed at home.');
  assertSplit('It was built in\n', '1987.', 'It burned.');
});

test('a title before a word of grammar ends the sentence', () => {
  assertSplit('He climbed the Mt.', 'The end.');
  assertSplit('It stands at 12 Oak St.', 'It opens at 9:00.');
  assertSplit('It was found by Kell et al.', 'We agree.');
  for (const text of [
    'Gov. Will Hale met U.S. Sen. Bo Lind, Rep. Ada Kell and Pres. Lee.',
    'Dr. No and Prof. May met Mme. Curie, Mlle. Rey, Sr. Rey and Sra. Rey.',
    'In 1990 Ms. Kell met Col. Lind.',
    'The firm was sold for 3 Mio. Euro.',
    'She plays, e.g. The Moor, on Mt. Tarn.',
  ])
    assertSplit(text);
});

test('small letters behind a number are a unit, and no title', () => {
  assertSplit('It answers in 20 ms.', 'Tarn stores 5 GB.');
  assertSplit('He weighs 14 st.', 'Anna weighs less.');
  assertSplit('The sheet has 3 col.', 'Rows are free.');
});

test('a capital behind a number is a unit, and behind a year an initial', () => {
  assertSplit('It boils at 373 K.', 'Salt water boils later.', 'The lamp takes 60 W.', 'Nora built it.');
  assertSplit('In 1942 W. Kell sold it.', 'It was Model 3 of K. Silva.');
});

test('what stands before a price, a number or a code goes on with it', () => {
  assertSplit('It costs $20 (excl. VAT) or $24 (incl. VAT).', 'Ask ext. 214, or Tel. +47 22 55 01.');
  assertSplit('It is model no. KL-7 of lot no. A12.', 'The answer was no.', 'Alva left.');
  assertSplit('The call is at 6 p.m. ET, or 11 p.m. GMT.', 'It ends at 8 p.m.', 'Eva leaves then.');
});

test('"…" ends a sentence before a capital, as "..." does', () => {
  assertSplit('She waited…', 'Nobody came.', '“So it goes…”', 'He left.');
  assertSplit('She waited… and waited.');
});

test('the day goes on with the time before it', () => {
  for (const day of ['Tuesday', 'March 3', 'Sept. 3', '3 May'])
    assertSplit(`It begins at 5 p.m. ${day} in Varn, and at 9 A.M. ${day} in Holm.`);
  assertSplit('It ends at 5 p.m.', 'Sundays are free.');
});

test('a German ordinal goes on behind an article', () => {
  for (const text of ['Der 2. Weltkrieg begann 1939.', 'Im 19. Jahrhundert lebte er.', 'Seit dem 1. Rang ist er froh.'])
    assertSplit(text);
  assertSplit('Er kam am 3.', 'Die Stadt war voll.');
  assertSplit('I am 12.', 'Anna is 10.');
});

test('a passage that is made to take time takes none that anybody notices', () => {
  for (const part of ['1. ', '. 1', ' ', '1 ', 'am 1. ', 'a.', '1900. 12 men. ', '[1]', '"', '5 ft. 3 '])
    assert.ok(sentencesOf(part.repeat(16_000 / part.length)).length > 0);
});
