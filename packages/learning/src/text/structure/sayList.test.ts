import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainText } from '../plainText.js';

test('an order is no value, and an item does not end in a comma', () => {
  const text = plainText(
    '# Orla Club\n\n- Keys:\n  - Locker: ask Pia Lund\n- free towels,\n- two guests, and\n- tea\n',
  );
  assert.match(text, /Locker: ask Pia Lund\./u);
  assert.match(text, /free towels\.\n.*two guests\.\n.*tea\./u);
});
