import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainPrompts } from '@engraft/learning';
import { randomNumbers } from '@engraft/learning/parts';
import type { Paragraph } from '../squad/paragraphs.js';
import { teachingRows, teachingTasks, type TeachingRow } from './rows.js';

const lighthouse: Paragraph = {
  title: 'Varn',
  context: 'The lighthouse of Varn was built by Ada Kell in 1874. It is 31 metres high.',
  questions: [
    { question: 'Who built the lighthouse of Varn?', answers: ['Ada Kell.', 'by Ada Kell'] },
    { question: 'Who was the builder of the lighthouse of Varn?', answers: ['Ada Kell'] },
    { question: 'How high is it?', answers: ['31 metres'] },
  ],
};
const harbour: Paragraph = {
  title: 'Varn',
  context: 'The harbour was dug in 1874 by Ivo Hale.',
  questions: [
    { question: 'When was the harbour dug?', answers: ['1874'] },
    { question: 'Who dug the harbour?', answers: ['Ivo Hale'] },
  ],
};

function rowsOf(paragraph: Paragraph, others: readonly Paragraph[] = []): TeachingRow[] {
  return teachingRows(paragraph, others, plainPrompts, randomNumbers(7));
}

function ofTask(rows: readonly TeachingRow[], wanted: TeachingRow['task']): TeachingRow[] {
  return rows.filter(({ task }) => task === wanted);
}

test('every task has rows, which end with what a person said', () => {
  const rows = rowsOf(lighthouse, [harbour]);
  assert.deepEqual(new Set(rows.map(({ task }) => task)), new Set(teachingTasks));
  const [reading] = ofTask(rows, 'read').filter(({ prompt }) => prompt.messages.at(-1)?.content.startsWith('How high'));
  assert.equal(reading?.completion, '31 metres');
  assert.ok(reading.prompt.messages[0]?.content.endsWith(lighthouse.context));
  for (const { prompt, completion } of ofTask(rows, 'ask')) {
    const answer = prompt.messages.at(-1)?.content.split(': ').at(-1) ?? '';
    const asked = lighthouse.questions.find(({ question }) => question === completion);
    assert.ok(asked?.answers.some((accepted) => accepted.includes(answer)));
  }
  const [list] = ofTask(rows, 'list');
  assert.match(list?.completion ?? '', /^Q: .+\?\nA: .+\nQ: .+\?\nA: .+$/);
  const [rephrased] = ofTask(rows, 'rephrase');
  assert.ok(lighthouse.questions.slice(0, 2).some(({ question }) => question === rephrased?.completion));
});

test('of several accepted answers the shortest is taught, without the punctuation behind it', () => {
  const answers = ofTask(rowsOf(lighthouse), 'read').map(({ completion }) => completion);
  assert.deepEqual(answers.toSorted(), ['31 metres', 'Ada Kell', 'Ada Kell']);
});

test('what another paragraph is asked is declined, unless this one has its answer', () => {
  for (let seed = 0; seed < 20; seed += 1) {
    const declined = ofTask(teachingRows(lighthouse, [harbour], plainPrompts, randomNumbers(seed)), 'decline');
    assert.deepEqual(
      declined.map(({ prompt, completion }) => [prompt.messages.at(-1)?.content, completion]),
      [['Who dug the harbour?', plainPrompts.notStated]],
    );
  }
  const unanswerable = { question: 'Who paid for it?', answers: [] };
  const own = rowsOf({ ...lighthouse, questions: [...lighthouse.questions, unanswerable] }, [harbour]);
  assert.deepEqual(
    ofTask(own, 'decline').map(({ prompt }) => prompt.messages.at(-1)?.content),
    ['Who paid for it?'],
  );
});
