import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorHas } from './processor.js';

const isKnown = process.platform === 'linux' && process.arch === 'x64';

test('Linux says what an x86 processor has', { skip: isKnown ? false : 'nothing is known of it' }, () => {
  assert.ok(processorHas('sse2'));
});

test('no processor has what nobody knows, nor a part of a name', () => {
  for (const feature of ['se2', 'flags', 'flags:', 'no_such_feature']) assert.equal(processorHas(feature), false);
});
