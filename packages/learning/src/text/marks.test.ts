import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainText } from './plainText.js';

test('powers are no emphasis', () => {
  for (const text of [
    'There are 2**64 keys and 2**16 bytes.',
    '2 ** 10 and 2 ** 16',
    'x**2 + y**2',
    'π**2 and r**2',
    '**kwargs and **options',
    'f(**kwargs) and g(**options)',
  ])
    assert.equal(plainText(text), text);
  const bold = '**Bold**, ***both***, Zahl**en** und これは**重要**です。';
  assert.equal(plainText(bold), 'Bold, both, Zahlen und これは重要です。');
  assert.equal(plainText('**Note: **closed. *The ship **Aurora***'), 'Note: closed. The ship Aurora');
});
