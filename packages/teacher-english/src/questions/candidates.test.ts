import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { findCandidates } from './candidates.js';
import { chunkPassage, plainText } from '@engraft/learning/parts';

const passage =
  'The Grey Heron is a ferry of Halden Lines. Children like it because it has a purple funnel. ' +
  'It crosses the bay in 2 hours and 20 minutes.';

async function askedFor(answers: readonly string[]): Promise<Map<string, readonly string[]>> {
  const { candidates } = await findCandidates(passage, chunkPassage(passage, 1500), answers);
  return new Map(candidates.map(({ span, keywords }) => [span.text, keywords]));
}

test('answers that no pattern finds are asked for in the words of their sentence, too, and never told', async () => {
  const found = await askedFor([]);
  const wanted = ['purple', '2 hours and 20 minutes'];
  assert.deepEqual(
    wanted.filter((answer) => found.has(answer)),
    [],
  );
  const asked = await askedFor([...wanted, 'a red flag']);
  assert.ok(!asked.has('a red flag'), 'the passage does not have it');
  for (const answer of wanted) {
    const questions = asked.get(answer) ?? [];
    assert.ok(questions.length > 4, answer);
    for (const question of questions) assert.ok(!question.includes(answer), question);
  }
  assert.ok(asked.get('2 hours and 20 minutes')?.some((question) => question.startsWith('How long ')));
});

test('an answer that a pattern finds already is asked for once', async () => {
  const found = await askedFor([]);
  assert.ok(found.has('Halden Lines'));
  assert.deepEqual([...(await askedFor(['Halden Lines', 'the Halden Lines'])).keys()], [...found.keys()]);
});

test('a passage of many lines without a name gives way to other work at every one of them', async () => {
  let turns = 0;
  const other = async (): Promise<void> => {
    while (turns >= 0) {
      await setImmediate();
      turns += 1;
    }
  };
  const working = other();
  const passage = 'Ab\n'.repeat(400);
  const { candidates } = await findCandidates(passage, chunkPassage(passage, 1500));
  assert.deepEqual(candidates, []);
  assert.ok(turns >= 400, `${turns} turns`);
  turns = -2;
  await working;
});

test('a passage as a mail program or a web page gives it proposes the same facts', async () => {
  const lines = [
    "Marder, Sons & Co opened a mill in Varn on 4 May 2021, in Anna's old school,",
    'and sold "Night Owl" flour there. A bag of it weighs 730 grams and costs',
    '$2.40. Ola Nygaard of the firm answers under kestral@varn.example.',
  ];
  const twin = lines
    .map((line) => `> ${line.replaceAll('&', '&amp;').replaceAll("'", '’').replaceAll(' ', '\u00A0')}`)
    .join('\r\n')
    .replace('730\u00A0', '730&nbsp;')
    .replaceAll('Nyg', 'Ny\u00ADg\u200B')
    .replaceAll('Varn ', 'Va\0rn ');
  const proposed = async (text: string): Promise<string[]> => {
    const plain = plainText(text);
    const { candidates } = await findCandidates(plain, chunkPassage(plain, 1500));
    return candidates.map(({ span, keywords }) => `${span.text}: ${keywords.join()}`);
  };
  const given = await proposed(lines.join(' '));
  for (const answer of ['730 grams', '$2.40', '4 May 2021', 'Ola Nygaard', 'Night Owl', 'Varn'])
    assert.ok(
      given.some((fact) => fact.startsWith(`${answer}:`)),
      answer,
    );
  assert.deepEqual(await proposed(twin), given);
});
