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

test('what is crossed out, and images, leave nothing', () => {
  assert.equal(plainText('It costs ~~$299~~ $249. ~~Sold out.~~ Buy it.'), 'It costs $249. Buy it.');
  assert.equal(plainText('~~$299~~ $249 is the price ~~now~~.'), '$249 is the price.');
  assert.equal(plainText('The rope is ~~5 m and the pole ~~6 m.'), 'The rope is ~~5 m and the pole ~~6 m.');
  assert.equal(plainText('Run `a ~~b~~ c`.'), 'Run `a ~~b~~ c`.');
  assert.equal(plainText('Call [](x) or m[](y).'), 'Call [](x) or m[](y).');
  assert.equal(plainText('# Tarn 3\n\n- Price: ~~$299~~ $249\n').split('\n').at(-1), 'The price of Tarn 3 is $249.');
  assert.equal(plainText('See ![a photo](a.png "The mill") it. [![Build](b.svg)](https://ex.com)').trim(), 'See it.');
});

test('links become their words', () => {
  for (const link of [
    '[manual](https://ex.com/m "The manual")',
    "[manual](https://ex.com/m_(1).pdf 'The manual')",
    '[manual](<https://ex.com/my file>)',
    '[manual](m.pdf)',
  ])
    assert.equal(plainText(`See the ${link}.`), 'See the manual.');
  assert.equal(
    plainText(
      'See the [manual][1] or [Site][] and [this][2].\n\n[1]: https://ex.com/m "The manual"\n[site]: <https://a.b>',
    ).trim(),
    'See the manual or Site and [this][2].',
  );
  for (const text of ['[10:02]: It began.', '```\n[1]: https://ex.com\n```']) assert.equal(plainText(text), text);
});

test('marks that were put together to take time take none that anybody notices', () => {
  for (const part of ['~~', '~~a', '![', '[a](', '[a](b "', '[a](b(', '[a]: ', '[a][', '](', '[1]: https://a\n'])
    assert.ok(plainText(part.repeat(16_000 / part.length)).length <= 16_000);
});
