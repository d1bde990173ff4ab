import assert from 'node:assert/strict';
import test from 'node:test';
import { participles } from './verbs.js';

test('each participle is of its own verb', () => {
  assert.deepEqual(participles.get('worn'), { infinitive: 'wear', past: 'wore' });
  assert.deepEqual(participles.get('done'), { infinitive: 'do', past: 'did' });
  const shows = [...participles]
    .filter(([, { infinitive }]) => infinitive === 'show')
    .map(([participle]) => participle);
  assert.deepEqual(shows, ['shown']);
});
