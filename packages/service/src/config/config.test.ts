import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './config.js';

test('a chat completion waits 240 seconds unless told', () => {
  assert.equal(readConfig({}, {}).chat_wait_ms, 240_000);
  assert.equal(readConfig({}, { ENGRAFT_CHAT_WAIT_SECONDS: '0' }).chat_wait_ms, 0);
  assert.equal(readConfig({}, { ENGRAFT_CHAT_WAIT_SECONDS: '30' }).chat_wait_ms, 30_000);
});
