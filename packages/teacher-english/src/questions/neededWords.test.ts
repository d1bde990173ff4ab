import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunkPassage, sentencesOf } from '@engraft/learning/parts';
import { findCandidates } from './candidates.js';
import { hasAll, neededWords } from './neededWords.js';

/** Whether a question about the value may be asked of the only sentence. */
function mayAsk(question: string, text: string, value: string): boolean {
  const [sentence] = sentencesOf(text);
  const start = text.indexOf(value);
  assert.ok(sentence !== undefined && start >= 0);
  return hasAll(question, neededWords(sentence, { start, end: start + value.length }));
}

async function asked(passage: string, answer: string): Promise<readonly string[]> {
  const { candidates } = await findCandidates(passage, chunkPassage(passage, 1500));
  return candidates
    .filter(({ span }) => span.text === answer)
    .flatMap(({ derived, relations, keywords }) => [
      ...derived,
      ...relations.flatMap(({ questions }) => questions),
      ...keywords,
    ]);
}

test('what a sentence denies is asked for only by a question that denies it, too', () => {
  for (const [text, value] of [
    ['The Marl Boat was never sold in Oslo.', 'Oslo'],
    ['The Marl Boat does not cost $30 any more.', '$30'],
    ['It was drawn not by Ada Kell but by Bo Lind.', 'Ada Kell'],
    ['Ada Kell did not draw it.', 'Ada Kell'],
    ['It is made in Varn, not in Halden.', 'Halden'],
    ['It is no longer made by Orin Works.', 'Orin Works'],
    ['No dogs are allowed in the reading garden.', 'reading garden'],
    ['It runs daily except on Mondays.', 'Mondays'],
  ] as const) {
    assert.ok(!mayAsk('What is it?', text, value), text);
    assert.ok(mayAsk('What is it not?', text, value), text);
  }
  assert.ok(mayAsk('Where are dogs forbidden?', 'No dogs are allowed in the reading garden.', 'reading garden'));
});

test('a denial elsewhere, and a limit, leave the value as it is', () => {
  for (const [text, value] of [
    ['It was drawn not by Ada Kell but by Bo Lind.', 'Bo Lind'],
    ['The hall is not heated, and it holds 90 people.', '90 people'],
    ['The house has no lift and 20 rooms.', '20 rooms'],
    ['It did not open until 1990.', '1990'],
    ['No more than 20 people may enter.', '20 people'],
    ['Varn lies not far from Halden.', 'Halden'],
    ['It was drawn not only by Ada Kell.', 'Ada Kell'],
    ['She never sailed and left her boats to the school of Varn.', 'school of Varn'],
    ['Accounts that nobody opened for 18 months are deleted.', '18 months'],
    ['Members who cannot come pay 12 euros.', '12 euros'],
    ['Models made before 2018 cannot use it.', '2018'],
    ['It boils without a lid in 20 minutes.', '20 minutes'],
  ] as const) {
    assert.ok(mayAsk('What is it?', text, value), text);
  }
});

test('a difference is asked for only as one', async () => {
  const text = 'The Marl bridge is 40 m longer.';
  assert.ok(!mayAsk('How long is the Marl bridge?', text, '40 m'));
  assert.ok(mayAsk('How much longer is the Marl bridge?', text, '40 m'));
  assert.ok(mayAsk('By how much does it exceed the Brig bridge?', text, '40 m'));
  const questions = await asked('The Marl Boat is a rowing boat. The Marl Boat is 3 m longer. It costs $90.', '3 m');
  assert.ok(questions.length > 0 && questions.every((question) => /\blonger\b|\bby \b/iu.test(question)));
});

test('templates and derived questions do not turn a denial into a fact', async () => {
  const passage =
    'The Marl Boat is a rowing boat. The Marl Boat was never sold in Oslo. It was built not by Ada Kell but by Bo Lind.';
  for (const answer of ['Oslo', 'Ada Kell']) {
    const wrong = (await asked(passage, answer)).filter((question) => !/\b(?:never|not|keep away)\b/u.test(question));
    assert.deepEqual(wrong, [], answer);
  }
  const right = await asked(passage, 'Bo Lind');
  assert.ok(right.includes('Who built the Marl Boat?'), right.join(' '));
  assert.deepEqual(
    right.filter((question) => / not .*but\b/u.test(question)),
    [],
  );
});
