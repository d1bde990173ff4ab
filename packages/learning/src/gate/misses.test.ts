import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunkPassage } from '../text/chunk.js';
import { readPassage } from '../text/plainText.js';
import { untaughtOf } from './misses.js';

const factOf = (answer: string) => ({ answer, training: [], dev: [], validation: [], softTargets: null });

function untaughtIn(content: string, answers: readonly string[], maxChars = 500) {
  const passage = readPassage(content);
  const known = [{ question: 'Who sold it?', answer: 'Bo' }];
  const chunks = chunkPassage(passage.text, maxChars);
  return untaughtOf({ ...passage, chunks }, { facts: answers.map(factOf), known });
}

test('sentences are counted without blank lines, and what the subject knows is taught', () => {
  const untaught = untaughtIn('Ada built it.\n\nIt is red.\n\nBo sold it. Nobody came.', ['Ada']);
  assert.deepEqual(untaught, { sentences: [2, 4], listedCount: 0, hasOthers: false });
});

test('a long sentence that is read in parts counts once', () => {
  const long = `It stands ${'on and on '.repeat(40)}in Graz.`;
  assert.deepEqual(untaughtIn(`${long} It is red.`, ['Graz'], 100).sentences, [2]);
});

test('headings, and the values of tables, are no sentences of the sender', () => {
  const content =
    '# Lume Lamp\n\nIt was made by Mira Voss. It is red.\n\n| Part | Price |\n|---|---|\n| shade | $12 |\n';
  assert.deepEqual(untaughtIn(content, ['Mira Voss']), { sentences: [2], listedCount: 1, hasOthers: true });
  assert.deepEqual(untaughtIn(content, ['red', '$12']), { sentences: [1], listedCount: 0, hasOthers: true });
});
