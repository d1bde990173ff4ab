import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitsQuestionWord } from '../questions/questionWord.js';
import { isQuestion, keepsNames } from './wellFormed.js';

test('a question is one line that asks, stands alone and keeps its answer', () => {
  assert.ok(isQuestion('How heavy is the Lume Lamp?', '1.2 kilograms'));
  assert.ok(!isQuestion('The Lume Lamp weighs 1.2 kilograms.', '1.2 kilograms'));
  assert.ok(!isQuestion('What weighs 1.2 kilograms?', '1.2 kilograms'));
  assert.ok(!isQuestion('How much does it weigh?', '1.2 kilograms'));
  assert.ok(isQuestion('Does Anna know what it weighs?', '1.2 kilograms'));
  assert.ok(!isQuestion('How?', 'x'));
});

test('a rephrasing keeps the names and numbers of its question', () => {
  const source = 'Who designed the Lume Lamp in 2019?';
  assert.ok(keepsNames(source, 'By whom was the Lume Lamp designed in 2019?', 'Maria Ochoa'));
  assert.ok(!keepsNames(source, 'Who designed the Lume Table in 2019?', 'Maria Ochoa'));
  assert.ok(!keepsNames(source, 'Who designed the Lume Lamp in 2018?', 'Maria Ochoa'));
});

test('an answer fits the question word', () => {
  assert.ok(
    fitsQuestionWord('When was it built?', 'in 1994') && fitsQuestionWord('When do they meet?', 'every Tuesday'),
  );
  assert.ok(!fitsQuestionWord('When was it built?', 'Gdansk'));
  assert.ok(!fitsQuestionWord('How many rooms are there?', 'Anna'));
  assert.ok(fitsQuestionWord('How many rooms are there?', 'twelve') && fitsQuestionWord('How is it made?', 'by hand'));
  assert.ok(!fitsQuestionWord('Who came?', '62 metres') && fitsQuestionWord('By whom was it made?', 'Anna'));
});
