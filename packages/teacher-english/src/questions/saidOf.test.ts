import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunkPassage } from '@engraft/learning/parts';
import { findCandidates } from './candidates.js';

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

const about = (questions: readonly string[], name: string): string[] =>
  questions.filter((question) => question.includes(name));

test('what a relative clause says is asked of the name before it', async () => {
  const passage =
    'Clara Holt runs the Marl Mill. Clara Holt succeeded Peter Lind, who retired in 2019. ' +
    'The Marl Mill is owned by Orin Works, which was founded in 1974.';
  const retired = await asked(passage, '2019');
  assert.deepEqual(about(retired, 'Clara Holt'), []);
  assert.ok(about(retired, 'Peter Lind').length > 0);
  const founded = await asked(passage, '1974');
  assert.deepEqual(about(founded, 'Mill'), []);
  assert.ok(founded.includes('When was Orin Works founded?'), founded.join(' '));
});

test('what a relative clause says of a person may be asked of a thing, unless it is a number', async () => {
  const passage = 'The Marl Mill is a bakery. The Marl Mill hired Peter Lind, who ran a bakery in Halden in 1990.';
  assert.ok(about(await asked(passage, 'Halden'), 'Marl Mill').length > 0);
  assert.deepEqual(about(await asked(passage, '1990'), 'Marl Mill'), []);
});

test('what is said of another person is not asked of the one whose life the passage is', async () => {
  const life = 'Clara Holt was a painter. She was born in Varn in 1940. Clara Holt painted boats. ';
  for (const [rest, answer] of [
    ['Her teacher, Peter Lind, died in 2011.', '2011'],
    ['Her husband, Martin, was born in Halden.', 'Halden'],
    ['Her brother was born in Halden.', 'Halden'],
    ['Her son is Martin Holt. He was born in 1971.', '1971'],
    ['Martin died in 1999, four years after his sister.', '1999'],
    ['She married Martin Brand in 1965, and he died in 1999.', '1999'],
  ] as const) {
    const questions = await asked(life + rest, answer);
    assert.deepEqual(
      about(questions, 'Clara Holt').filter((question) => !question.includes("Clara Holt's ")),
      [],
      rest,
    );
  }
});

test('what is said of both is asked of both', async () => {
  const life = 'Clara Holt was a painter. She was born in Varn in 1940. Clara Holt painted boats. ';
  for (const [rest, answer] of [
    ['Peter Lind taught her to paint in 1958.', '1958'],
    ['Peter Lind met Clara Holt in 1958.', '1958'],
    ['Her teacher, Peter Lind, died in 2011.', 'Peter Lind'],
    ['She died in 1999.', '1999'],
  ] as const) {
    assert.ok(about(await asked(life + rest, answer), 'Clara Holt').length > 0, rest);
  }
});

test('"it" and "its" mean no person', async () => {
  const passage = 'CEO Clara Holt closed the mill on Friday. Its revenue was $1.24 billion. It costs $90 to enter.';
  for (const answer of ['$1.24 billion', '$90']) {
    assert.deepEqual(about(await asked(passage, answer), 'Clara Holt'), [], answer);
  }
});
