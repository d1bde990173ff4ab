import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '@engraft/engine';
import { envelopeOf, toApiError } from './apiErrors.js';

test('a conversation that the template refuses is refused with its reason', () => {
  const reason = 'the chat template refuses this conversation: roles must alternate';
  const { error } = envelopeOf(toApiError(new EngineError('invalid_request', reason)), 'req_1');
  assert.deepEqual([error.code, error.param], ['invalid_request', 'messages']);
  assert.match(error.message, /roles must alternate$/);
});
