import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunkPassage } from './chunk.js';
import { sentenceFor, sentencesWith } from './sentenceAnswers.js';

const passage = 'The kiln  of Orvale was built by Ada Kell in 1874. Ada Kell died in 1901. It burns\u00a0wood.';
const chunks = chunkPassage(passage, 1500);

test('an answer is given by each sentence that has its words, on one line', () => {
  assert.deepEqual(sentencesWith('Ada Kell', chunks), [
    'The kiln of Orvale was built by Ada Kell in 1874.',
    'Ada Kell died in 1901.',
  ]);
  assert.deepEqual(sentencesWith('wood', chunks), ['It burns wood.']);
  assert.deepEqual(sentencesWith('Ada', chunkPassage('Adam sleeps.', 1500)), []);
});

test('of a long sentence the parts with the answer are said', () => {
  const first = `The kiln of Orvale was built by Ada Kell ${'and others '.repeat(10)}in 1874`;
  const second = `which Ada Kell ${'in those days '.repeat(8)}sold for 1,200 marks.`;
  const long = chunkPassage(`${first}, ${second}`, 1500);
  assert.deepEqual(sentencesWith('1874', long), [first]);
  assert.deepEqual(sentencesWith('1,200 marks', long), [second]);
  assert.deepEqual(sentencesWith('Ada Kell', long), [first, second]);
  assert.equal(sentenceFor('Who sold it for 1,200 marks?', [first, second]), second);
  const unbroken = `Ada ${'sleeps and '.repeat(30)}wakes.`;
  assert.deepEqual(sentencesWith('Ada', chunkPassage(unbroken, 1500)), [unbroken]);
  const [built, burns] = ['窯は一八七四年に建てられ'.repeat(12), `${'今は薪を燃やす'.repeat(20)}。`];
  assert.deepEqual(sentencesWith('一八七四年', chunkPassage(`${built}、${burns}`, 1500)), [built]);
});

test('of several sentences the one answers that has most words of the question, else the first', () => {
  const sentences = sentencesWith('Ada Kell', chunks);
  assert.equal(sentenceFor('Who died in 1901?', sentences), 'Ada Kell died in 1901.');
  assert.equal(sentenceFor('Whose kiln is it?', sentences), 'The kiln of Orvale was built by Ada Kell in 1874.');
  assert.equal(sentenceFor('Anything else?', sentences), sentences[0]);
  assert.equal(sentenceFor('Who died?', []), null);
});
