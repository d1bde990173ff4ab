import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutFootnotes } from './footnotes.js';
import { plainText } from './plainText.js';
import { sentencesOf } from './sentences.js';

test('marks of footnotes are no part of a sentence, and cut none', () => {
  const wanted = ['The Tarn 3 was launched in 2019. ', 'It weighs 8.4 kg. ', 'It was designed by Otto Kell in Varn.'];
  for (const passage of [
    'The Tarn 3 was launched in 2019.[1] It weighs 8.4 kg.[2] It was designed by Otto Kell[3] in Varn.',
    'The Tarn 3 was launched in 2019.[1][2] It weighs 8.4 kg[a].[3][note 2] It was designed by Otto Kell[b] in Varn.',
    'The Tarn 3 was launched in 2019[1]. It weighs 8.4 kg.[^2] It was designed by Otto Kell[^3] in Varn.[^4]',
    'The Tarn 3 was launched in 2019.¹ It weighs 8.4 kg.²³ It was designed by Otto Kell in Varn.¹²',
    'The Tarn 3 was launched in 2019.&#91;1&#93; It weighs 8.4 kg.[citation needed] ' +
      'It was designed by Otto Kell in Varn.',
  ])
    assert.deepEqual(
      sentencesOf(plainText(passage)).map(({ text }) => text),
      wanted,
    );
});

test('the text of a footnote has no mark', () => {
  assert.equal(plainText('It weighs 8.4 kg.[^1]\n\n[^1]: Without water.'), 'It weighs 8.4 kg.\n\nWithout water.');
});

test('marks go from items and cells, and wrapped lines are joined behind them', () => {
  const list = '# Tarn 3\n\nIt is sold in Varn.[1]\n\n- Weight: 8.4 kg[2]\n';
  assert.equal(plainText(list).split('\n').at(-1), 'The weight of Tarn 3 is 8.4 kg.');
  const table = '| Room | Seats |\n|---|---|\n| Birch | 12[1] |\n| Cedar | 40[2] |';
  assert.equal(plainText(table), 'The seats of Birch are 12.\nThe seats of Cedar are 40.');
  assert.equal(
    plainText('The mill of Varn was built in the year 1803[1]\nand grinds barley.[2] It opens on Sundays.'),
    'The mill of Varn was built in the year 1803 and grinds barley. It opens on Sundays.',
  );
});

test('indexes, links, boxes and powers stay', () => {
  for (const text of [
    'The first value is array[1] and the last one is array[9].',
    'const first = items[0] + items[1];\nprint(items[2]);',
    'It has 12 m² and x². The rest is 3 km³ large.',
    'Read [1] and [this][2] or [a](b).',
    '- [x] Read it.',
  ])
    assert.equal(withoutFootnotes(text), text);
  for (const code of ['`array[1]`', '`a.[1]`', '```\na[1] = b.[2]\n```'])
    assert.equal(withoutFootnotes(`It opens.[1] ${code} is kept.[2]`), `It opens. ${code} is kept.`);
  const indexes = 'a[1] = b[2] * c[3][0] + d[4].length';
  assert.equal(withoutFootnotes(`It opens.[1]\n${indexes}`), `It opens.\n${indexes}`);
});

test('a passage that is made to take time takes none that anybody notices', () => {
  for (const part of ['[1]', 'a[1]', '[', 'a[a ', '.[1]', '1', '1.', '¹', '.¹', 'a[a needed', '] ', ' 1[1]('])
    assert.ok(withoutFootnotes(part.repeat(16_000 / part.length)).length <= 16_000);
});
