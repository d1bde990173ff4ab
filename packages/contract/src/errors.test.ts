import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, errorEnvelope, errorTable } from './errors.js';

test('the envelope "always carries `code`, `retryable` and `request_id`", and a message for a person', () => {
  assert.deepEqual(errorEnvelope('rate_limited', 'req_1'), {
    error: {
      code: 'rate_limited',
      retryable: true,
      request_id: 'req_1',
      message: 'Too many requests with this key, or without a valid key from this address; wait as Retry-After says.',
    },
  });
});

test('on 422 it names the field', () => {
  const error = new ApiError('invalid_request', { param: 'messages', message: 'Too many.' });
  assert.equal(error.status, 422);
  assert.deepEqual(errorEnvelope(error.code, 'req_1', error.details).error, {
    code: 'invalid_request',
    retryable: false,
    request_id: 'req_1',
    message: 'Too many.',
    param: 'messages',
  });
});

test('only what may succeed unchanged is retryable: 429 and 503', () => {
  for (const { status, retryable } of Object.values(errorTable)) {
    assert.equal(retryable, status === 429 || status === 503);
  }
});
