import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunkPassage, sentencesOf } from '@engraft/learning/parts';
import { readBenchPassages } from '@engraft/learning/testing/passages.js';
import { findSpans } from '../spans/spans.js';
import { introducedBy } from '../spans/statement.js';
import { chooseCandidates, findCandidates, worthTeaching, type Candidate } from './candidates.js';

test('of too many candidates, those come first that people are likeliest to ask for', async () => {
  const passage =
    'The Lume Lamp costs 49 euros. The Lume Lamp weighs 2 kg. The Lume Lamp has 5 bulbs. It is red at the end.';
  const { candidates } = await findCandidates(passage, chunkPassage(passage, 1500));
  const answers = candidates.map(({ span }) => span.text);
  assert.deepEqual(answers.slice(0, 3).sort(), ['2 kg', '49 euros', '5 bulbs']);
  assert.equal(answers[3], 'red');
  assert.deepEqual([...answers.slice(4)].sort(), ['Lume Lamp', 'end']);
  assert.deepEqual(
    chooseCandidates(candidates, 4).map(({ span }) => span.text),
    answers.slice(0, 4),
  );
  assert.deepEqual(chooseCandidates(candidates, 2), candidates.slice(0, 2));
});

test('what hardly anybody would ask for is not taught, unless there is little else', async () => {
  const numbers = ['12 rooms', '30 beds', '45 chairs', '60 lamps', '70 plates', '80 forks', '90 spoons', '95 knives'];
  const plain = 'At the end of the year the sale of bread began again.';
  const rich = `${numbers.map((number) => `The Blue Inn of Otter Bay has ${number}.`).join(' ')} ${plain}`;
  const found = async (passage: string): Promise<string[]> => {
    const { candidates } = await findCandidates(passage, chunkPassage(passage, 1500));
    return worthTeaching(candidates).map(({ span }) => span.text);
  };
  assert.deepEqual((await found(rich)).slice(0, 8).sort(), numbers);
  assert.ok(!(await found(rich)).includes('end'));
  assert.ok((await found(plain)).includes('end'));
});

test('a passage of sixteen thousand characters is read in chunks and asked about evenly', async () => {
  const [handbook] = await readBenchPassages('handbooks.jsonl');
  assert.ok(handbook !== undefined);
  const { passage } = handbook;
  const chunks = chunkPassage(passage, 1200);
  const { candidates } = await findCandidates(passage, chunks);
  const chosen = chooseCandidates(candidates, 100);
  assert.equal(chosen.length, 100);
  for (const index of chunks.keys()) {
    const ofChunk = (all: readonly Candidate[]): number => all.filter(({ chunk }) => chunk === index).length;
    const share = (100 * ofChunk(candidates)) / candidates.length;
    assert.ok(Math.abs(ofChunk(chosen) - share) <= 1, `chunk ${index}: ${ofChunk(chosen)} of ${share.toFixed(1)}`);
  }
  const saliences = chosen.map(({ salience }) => salience);
  assert.deepEqual(
    saliences,
    [...saliences].sort((a, b) => b - a),
    'the likeliest first',
  );
});

test('values that a passage contradicts itself about are left out, and what a thing can have two of stays', async () => {
  const passage =
    'The Lume Lamp costs 49 dollars. The Lume Lamp costs 82 dollars. The Lume Lamp was made in 1994. The Lume Lamp was made in 2011. The Lume Lamp weighs 2 kg. The Lume Lamp weighs 5 kg. ' +
    'The Lume Lamp was designed by Maria Ochoa. The Lume Lamp has 3 bulbs. The Lume Lamp has 2 switches.';
  const { candidates } = await findCandidates(passage, chunkPassage(passage, 1500));
  const answers = candidates.map(({ span }) => span.text);
  assert.deepEqual(answers, ['Maria Ochoa', '3 bulbs', '2 switches', 'Lume Lamp']);
});

test('values of different years, seasons or occasions contradict nothing', async () => {
  for (const [passage, values] of [
    ['Tarn Works had 40 employees in 1990. Tarn Works had 90 employees in 2000.', ['40 employees', '90 employees']],
    [
      'Tarn Works is a mill. In 1990 the mill had 40 employees. In 2000 the mill had 90 employees.',
      ['40 employees', '90 employees'],
    ],
    [
      'Tarn Works is a mill. In 1990 it had 40 employees, and in 2000 it had 90 employees.',
      ['40 employees', '90 employees'],
    ],
    ['A room costs $90 in winter. A room costs $120 in summer.', ['$90', '$120']],
    ['In winter, a room costs $90. In summer, a room costs $120.', ['$90', '$120']],
    ['Ada Kell won the race in 1990. Ada Kell won the race in 1995.', ['1990', '1995']],
    ['The mill was painted in 1990. The mill was painted in 1995.', ['1990', '1995']],
  ] as const) {
    const { candidates, contradicted } = await findCandidates(passage, chunkPassage(passage, 1500));
    assert.deepEqual(contradicted, [], passage);
    const answers = candidates.map(({ span }) => span.text);
    for (const value of values) assert.ok(answers.includes(value), `${value}: ${passage}`);
  }
});

test('what holds at the same time or happens once is a contradiction', async () => {
  for (const [passage, values] of [
    ['The lamp costs 49 dollars. It is blue. The lamp costs 82 dollars.', ['49 dollars', '82 dollars']],
    ['A room costs $90 in winter. The inn is old. A room costs $120 in winter.', ['$90', '$120']],
    ['In winter, a room costs $90. In winter, a room costs $120.', ['$90', '$120']],
    ['Ada Kell was born in 1990. Ada Kell was born in 1995.', ['1990', '1995']],
    ['The deadline is 4 May. The deadline is 6 May.', ['4 May', '6 May']],
  ] as const) {
    const { contradicted } = await findCandidates(passage, chunkPassage(passage, 1500));
    assert.deepEqual(contradicted, values, passage);
  }
});

test('a sentence said again brings nothing new to ask for, unless it is about something else', async () => {
  const countOf = async (passage: string): Promise<number> => {
    const { candidates } = await findCandidates(passage, chunkPassage(passage, 1500));
    return candidates.filter(({ span }) => span.text === '49 dollars').length;
  };
  assert.equal(await countOf('The Lume Lamp costs 49 dollars. '.repeat(12)), 1);
  assert.equal(
    await countOf('The Lume Lamp is new. It costs 49 dollars. The Dusk Lamp is old. It costs 49 dollars.'),
    2,
  );
});

test('the passage’s own question asks for what follows it, up to the next paragraph, and says nothing itself', async () => {
  const passage =
    'The Harbour Pool is new.\n\nWho teaches swimming at the Harbour Pool? Ines Marder does. She is from Porto.\n\nIt has 6 lanes.';
  const { candidates } = await findCandidates(passage, chunkPassage(passage, 1500));
  const statedBy = new Map(candidates.map(({ span, stated }) => [span.text, stated]));
  const question = 'Who teaches swimming at the Harbour Pool?';
  assert.equal(statedBy.get('Ines Marder'), question);
  assert.equal(statedBy.get('Porto'), question);
  assert.equal(statedBy.get('6 lanes'), null);
  assert.ok(candidates.every(({ sentence }) => !sentence.text.includes('?')));
});

test('people also ask about what else the first sentence introduces', () => {
  const subjectsOf = (passage: string): string[] => {
    const [first] = sentencesOf(passage);
    assert.ok(first !== undefined);
    return introducedBy(first, findSpans(first, passage));
  };
  assert.deepEqual(subjectsOf('Tram type C of the city of Veldhaven replaces type B.').slice(0, 2), [
    'tram type C',
    'Veldhaven',
  ]);
  assert.deepEqual(subjectsOf('In 1998 Ada Lund was a baker.'), ['Ada Lund']);
  assert.deepEqual(subjectsOf('The Ibis M3 is a camera.').slice(0, 1), ['Ibis M3']);
  assert.deepEqual(subjectsOf('Update 11 for the robot vacuum Dusty Otto was sent out.'), ['Update 11', 'Dusty Otto']);
});
