import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseModelName, writeModelName } from './modelName.js';

test('a model is named ORG/NAME, with a branch, a tag or a commit after an @', () => {
  assert.deepEqual(parseModelName('HuggingFaceTB/SmolLM2-135M-Instruct'), {
    id: 'HuggingFaceTB/SmolLM2-135M-Instruct',
    revision: 'main',
  });
  for (const revision of ['v1.0', 'refs/pr/3', '0123456789abcdef0123456789abcdef01234567']) {
    assert.deepEqual(parseModelName(`Qwen/Qwen3-0.6B@${revision}`), { id: 'Qwen/Qwen3-0.6B', revision });
  }
});

test('what could be another folder than that of the model is no name', () => {
  const wrong = [
    '',
    'gpt2',
    '/x',
    'a/',
    'a/b/c',
    '../b',
    'a/..',
    'a/b--c',
    'a/b..c',
    '.a/b',
    'a/b.',
    'a/b.git',
    'a\\b/c',
  ];
  for (const text of wrong) assert.equal(parseModelName(text), null, text);
  for (const revision of ['', '..', 'a/../b', '/a', 'a//b', '-x', 'a b', 'a\\b', 'a\0', 'a@b', 'a:b', '.x', 'x.']) {
    assert.equal(parseModelName(`a/b@${revision}`), null, revision);
  }
});

test('a name is written as it is read, and leads out of no folder', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...Array.from('ab./-@\\ _1:')) }), (text) => {
      const name = parseModelName(text);
      if (name === null) return;
      assert.deepEqual(parseModelName(writeModelName(name)), name);
      for (const part of `${name.id}/${name.revision}`.split('/')) assert.doesNotMatch(part, /^\.*$|[\\:@ ]|--$/);
    }),
    { numRuns: 2000 },
  );
});
