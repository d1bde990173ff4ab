import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunkPassage, windowOf } from '@engraft/learning/parts';
import { findCandidates } from './candidates.js';
import { relationTable } from './templates.js';

const passage =
  'The Brindle Kettle is an electric kettle. It was designed by Ottoline Farr. It holds 1.4 litres. The handle is painted dark green. ' +
  'Farr runs the workshop Red Anvil. The kettle costs 64 pounds.';

const { candidates } = await findCandidates(passage, chunkPassage(passage, 1500));

/** The questions of templates for the answer, over all relations. */
function templatesFor(answer: string): string[] {
  const candidate = candidates.find(({ span }) => span.text === answer);
  assert.ok(candidate !== undefined, answer);
  return candidate.relations.flatMap(({ questions }) => questions);
}

test('a value is asked for in the usual words, about what its sentence is about', () => {
  for (const [answer, question] of [
    ['1.4 litres', 'What is the capacity of the Brindle Kettle?'],
    ['Ottoline Farr', 'Whose idea was the Brindle Kettle?'],
    ['64 pounds', 'What is the price of the Brindle Kettle?'],
    ['dark green', 'What colour is the handle of the Brindle Kettle?'],
  ] as const) {
    assert.ok(templatesFor(answer).includes(question), `${answer}: ${templatesFor(answer).join(' ')}`);
  }
  assert.ok(!templatesFor('1.4 litres').some((question) => /cost|weigh|Who/u.test(question)));
});

test('a name is asked for by the noun before it, and people by their whole names', () => {
  assert.ok(templatesFor('Red Anvil').includes('What is the workshop of Ottoline Farr called?'));
});

test('the teacher reads a sentence with the one before it and the one that opens the chunk', () => {
  const [chunk] = chunkPassage(passage, 1500);
  const start = passage.indexOf('The handle');
  assert.equal(
    windowOf(chunk, start),
    'The Brindle Kettle is an electric kettle. It holds 1.4 litres. The handle is painted dark green. ',
  );
  assert.equal(windowOf(chunk, 0), 'The Brindle Kettle is an electric kettle. ');
  assert.equal(windowOf(chunk, 7), passage, 'no sentence begins there');
});

test('a passage is asked about as passages of its kind are', () => {
  const names = (text: string): Set<string> => new Set(relationTable(text).map(({ name }) => name));
  const portrait = names(
    'Ada Kell was born in Varn. She was a baker, and her mother taught her to row. In 1990 she won her first race.',
  );
  assert.ok(portrait.has('occupation') && !portrait.has('accessory'));
  const product = names('The Lume Lamp weighs 2 kg. It comes with a bag and costs 49 euros.');
  assert.ok(product.has('accessory') && !product.has('occupation') && !product.has('minutes'));
  const update = names('Version 4.2 of Quillpad brings a new ruler. A bug that lost pages was fixed.');
  assert.ok(update.has('new feature') && !update.has('occupation'));
  const minutes = names(
    'At the meeting of the club on 3 May Ada Kell took the chair. She said that he had paid. The committee agreed, and the board voted for his motion. The treasurer reported.',
  );
  assert.ok(minutes.has('minutes'));
});
