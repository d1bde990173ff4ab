import assert from 'node:assert/strict';
import test from 'node:test';
import { replayObjects } from '@engraft/learning/parts';
import { objectTasks } from './objectTasks.js';

test('no object that canaries ask for is one that training rehearses', () => {
  const rehearsed = replayObjects.map(([request]) => request.toLowerCase());
  assert.ok(rehearsed.length > 50);
  assert.deepEqual(
    objectTasks.filter(([text]) => rehearsed.some((request) => request.includes(text.toLowerCase()))),
    [],
  );
});
