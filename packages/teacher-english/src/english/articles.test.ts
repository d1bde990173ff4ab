import assert from 'node:assert/strict';
import test from 'node:test';
import { articleOf } from './articles.js';

test('an article is that of the sound rather than of the letter', () => {
  for (const noun of ['animal', 'energy', 'unused ticket', 'hour', 'adult', 'onion', 'uncle', 'inset'])
    assert.equal(articleOf(noun), 'an', noun);
  for (const noun of ['usual fare', 'user', 'unit', 'euro', 'university', 'one', 'week', 'house'])
    assert.equal(articleOf(noun), 'a', noun);
});
