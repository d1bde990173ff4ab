import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { withoutHtml } from './html.js';

test('a table is one of Markdown, with the heads that it marks or that its first row is', () => {
  const wanted = '| Room | Floor | Seats |\n|---|---|---|\n| Birch | 2 | 12 |\n| Cedar | 3 | 40 |';
  for (const table of [
    '<table><thead><tr><th>Room</th><th>Floor</th><th>Seats</th></tr></thead><tbody><tr>' +
      '<td>Birch</td><td>2</td><td>12</td></tr><tr><td>Cedar</td><td>3</td><td>40</td></tr></tbody>' +
      '</table>',
    '<table>\n <tr><th>Room<th>Floor<th>Seats\n <tr><td>Birch<td>2<td>12\n <tr><td>Cedar<td>3<td>40\n</table>',
    '<TABLE border=1><tr><td><b>Room</b></td><td>Floor</td><td>Seats</td></tr><tr><td>Birch</td>' +
      '<td>2</td><td>12</td></tr><tr><td>Cedar</td><td>3</td><td>40</td></tr></TABLE>',
    '<div><p></p><table><tr><th></th><th></th></tr><tr></tr></table></div><table>' +
      '<tr><th>Room</th><th>Floor</th><th>Seats</th></tr><tr><th>Birch</th><td>2</td><td>12</td></tr>' +
      '<tr><th>Cedar</th><td>3</td><td>40</td></tr></table>',
  ])
    assert.ok(withoutHtml(table).endsWith(wanted), withoutHtml(table));
});

test('heads of rows, spans and captions', () => {
  assert.equal(
    withoutHtml('<table><tr><th>Weight</th><td>8 kg</td></tr><tr><th>Maker</th><td>Orlo</td></tr></table>'),
    '|  |  |\n|---|---|\n| Weight | 8 kg |\n| Maker | Orlo |',
  );
  assert.equal(
    withoutHtml(
      '<table><caption>Fares</caption><tr><th>Line</th><th>Day</th><th>Fare</th></tr><tr>' +
        '<td rowspan=2>A</td><td>Monday</td><td>€2</td></tr><tr><td colspan="2">free</td></tr></table>',
    ),
    'Fares\n\n| Line | Day | Fare |\n|---|---|---|\n| A | Monday | €2 |\n| A | free | free |',
  );
});

test('headings, paragraphs, lists and definitions are Markdown; scripts are nothing', () => {
  assert.equal(
    withoutHtml(
      '<html><head><title>x</title></head><body><h2>Tarn &amp; Sons</h2><script>let a = 1;</script>' +
        '<p>It costs\n <b>$249</b>.</p>' +
        '<ul><li>Maker: Orlo<ul><li>Town: Varn</li></ul></li><li>Red</li></ul>' +
        '<dl><dt>Weight:</dt><dd>8 kg</dd></dl></body></html>',
    ),
    '## Tarn & Sons\n\nIt costs $249.\n\n- Maker: Orlo\n   - Town: Varn\n- Red\n\n- Weight: 8 kg',
  );
});

test('what is crossed out is nothing', () => {
  for (const name of ['del', 's', 'strike']) {
    const price = `<${name}>$299</${name}> <ins>$249</ins>`;
    assert.equal(withoutHtml(`<p>It costs ${price}.</p><p>${price}</p>`), 'It costs $249.\n\n$249');
    assert.equal(withoutHtml(`<ul><li>Price: ${price}</li></ul>`), '- Price: $249');
  }
});

test('what is no block of HTML stays to the last character', () => {
  const line = fc.stringMatching(/^[A-Za-z0-9<>&;"=/ .!?-]{0,60}$/u);
  fc.assert(
    fc.property(line, (text) => /<\/(?:[pbh]|li|t[dr]|ul|ol|dl|div)/iu.test(text) || withoutHtml(text) === text),
  );
  for (const text of [
    '# Tarn & Sons <espresso> machine\n\nIt costs < $249 & more.',
    'Use the tag <p> for a paragraph.',
    'a < b, c > d',
    'Run `<p>a</p>` first.',
    '```\n<table><tr><td>1</td></tr></table>\n```',
  ])
    assert.equal(withoutHtml(text), text);
});

test('Markdown around a table, and code in the page, stay as written', () => {
  assert.equal(
    withoutHtml(
      '# Tarn *3*\n\nRun `a < b`  now &amp; here.\n\n<table><tr><td>a</td><td>b</td></tr><tr>' +
        '<td>1</td><td>2</td></tr></table>',
    ),
    '# Tarn *3*\n\nRun `a < b`  now &amp; here.\n\n|  |  |\n|---|---|\n| a | b |\n| 1 | 2 |',
  );
});

test('Markdown inside an element stays as written; the indented text of a page does not', () => {
  const list = '- Basic: $9\n- Pro: $29';
  const rows = '| Plan | Price |\n|---|---|\n| Basic | $9 |';
  for (const tag of ['div', 'section', 'article', 'main'])
    assert.equal(withoutHtml(`<${tag}>\n\n${list}\n\n${rows}\n\n</${tag}>`), `${list}\n\n${rows}`);
  assert.equal(
    withoutHtml(`<details><summary>Prices</summary>\n\n${list}\n\n${rows}\n</details>`),
    `Prices\n\n${list}\n\n${rows}`,
  );
  assert.equal(withoutHtml('<div>\n\n    It\n    costs\n\n    <b>$9</b>.</div>'), 'It costs $9.');
});

test('pages that were made to be slow or deep come to an end', () => {
  for (const part of [
    '<b><p>',
    '<table><tr><td>',
    '<ul><li>',
    '<div>',
    '<x>',
    '<td colspan=9999 rowspan=9999>',
    '<a><table>',
    '<p></b>',
  ]) {
    const page = `<p>a</p>${part.repeat(16_000 / part.length)}end`;
    assert.ok(withoutHtml(page).includes('end'), part);
    assert.ok(withoutHtml(page).length < 200_000, part);
  }
});

test('a page whose paragraphs open hundreds of elements again stays as it is', () => {
  const marks = Array.from({ length: 200 }, (_, index) => `<b a=${index}>`).join('');
  const closed = `<table><tr><td>${'</b>'.repeat(200)}</table>`;
  for (const page of [`<p>a</p><p>${marks}${'<p>x'.repeat(400)}`, `<p>a</p><p>${marks}${closed}${'<p>x'.repeat(400)}`])
    assert.equal(withoutHtml(page), page);
});
