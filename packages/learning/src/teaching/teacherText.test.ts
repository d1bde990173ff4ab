import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesOf, parseList, questionIn } from './teacherText.js';

test('a question is taken out of what a model for conversation puts around it', () => {
  for (const text of [
    'Who built the mill?',
    "Sure! Here's a question based on the passage: Who built the mill?",
    'Question: Who built the mill?',
    '**Who built the mill?**',
    '"Who built the mill?"',
    '1. Who built the mill?\n2. When was it built?',
    'Here is one:\n\nWho built the mill?\n\nAnswer: Ada Kell',
  ])
    assert.equal(questionIn(text), 'Who built the mill?', text);
  for (const text of ['What does the sign say: keep out or come in?', 'In Varn: who built it?', 'No question.'])
    assert.equal(questionIn(text), text);
});

test('a list is read as far as it is one', () => {
  assert.deepEqual(
    parseList('1. **Q:** Who came?\n   **A:** Anna.\n\n2. **Question 2:** When?\n\n- Answer 2: At noon'),
    [
      { question: 'Who came?', answer: 'Anna.' },
      { question: 'When?', answer: 'At noon' },
    ],
  );
  assert.deepEqual(parseList('Q: Who came?\r\nA: Anna\r\n\r\nQ: When?\r\nA: At noon\r\n'), [
    { question: 'Who came?', answer: 'Anna' },
    { question: 'When?', answer: 'At noon' },
  ]);
  assert.deepEqual(parseList('- Q: What is 2 ** 3?\n- A: 8'), [{ question: 'What is 2 ** 3?', answer: '8' }]);
  assert.deepEqual(parseList('Q: Who came?\nA: Anna\nQ: When?\nA: At noon\nQ: Why'), [
    { question: 'Who came?', answer: 'Anna' },
    { question: 'When?', answer: 'At noon' },
  ]);
});

test('numbers of a list are left out, however they count, and those of dates are not', () => {
  assert.deepEqual(linesOf('Here:\n1. Berlin\n1. **Rome**\n4. "Oslo"\n- Bonn'), [
    'Here:',
    'Berlin',
    'Rome',
    'Oslo',
    'Bonn',
  ]);
  assert.deepEqual(linesOf('2. April 12, 1987\n3. August Wilson'), ['April 12, 1987', 'August Wilson']);
  assert.deepEqual(linesOf('3. Mai 1987\nHarwich\n**12. März**'), ['3. Mai 1987', 'Harwich', '12. März']);
});

test('a list without labels is read as well', () => {
  assert.deepEqual(parseList('**1. Who came?**\n- Ada Kell\n\n2. When did she come?\n   At noon'), [
    { question: 'Who came?', answer: 'Ada Kell' },
    { question: 'When did she come?', answer: 'At noon' },
  ]);
});
