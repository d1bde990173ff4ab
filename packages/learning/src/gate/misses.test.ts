import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunkPassage } from '../text/chunk.js';
import { untaughtSentences } from './misses.js';

test('sentences are counted without blank lines, and what the subject knows is taught', () => {
  const text = 'Ada built it.\n\nIt is red.\n\nBo sold it. Nobody came.';
  const passage = { text, told: new Map(), chunks: chunkPassage(text, 500) };
  const fact = { answer: 'Ada', training: [], dev: [], validation: [], softTargets: null };
  const known = [{ question: 'Who sold it?', answer: 'Bo' }];
  assert.deepEqual(untaughtSentences(passage, { facts: [fact], known }), [2, 4]);
});
