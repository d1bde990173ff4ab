import assert from 'node:assert/strict';
import test from 'node:test';
import { readBenchPassages } from '../../testing/passages.js';
import { withDelimitedTables } from './delimited.js';

const wanted = '| Drink | Size | Price |\n|---|---|---|\n| Cider, dry | 0.5 l | £4.20 |\n| Ale | 0.4 l | £3.90 |';

test('cells between tabs, commas, semicolons, bars and wide gaps are one table', () => {
  for (const text of [
    'Drink\tSize\tPrice\nCider, dry\t0.5 l\t£4.20\nAle\t0.4 l\t£3.90',
    'Drink,Size,Price\n"Cider, dry",0.5 l,£4.20\nAle,0.4 l,£3.90',
    'Drink, Size, Price\n"Cider, dry", 0.5 l, £4.20\nAle, 0.4 l, £3.90',
    'Drink;Size;Price\nCider, dry;0.5 l;£4.20\nAle;0.4 l;£3.90',
    'Drink | Size | Price\nCider, dry | 0.5 l | £4.20\nAle | 0.4 l | £3.90',
    '| Drink | Size | Price |\n+-----+----+----+\n| Cider, dry | 0.5 l | £4.20 |\n| Ale | 0.4 l | £3.90 |',
    'Drink       Size    Price\nCider, dry  0.5 l   £4.20\nAle         0.4 l   £3.90',
    'Drink\tSize\tPrice\r\nCider, dry\t0.5 l\t£4.20\r\nAle\t0.4 l\t£3.90',
  ])
    assert.equal(withDelimitedTables(text), wanted, text);
});

test('cells that are left out at the end of a line, and marks inside cells, change no other cell', () => {
  assert.equal(
    withDelimitedTables('A\tB\tC\n1\t2\nx\ty|z\tw'),
    '| A | B | C |\n|---|---|---|\n| 1 | 2 |  |\n| x | y\\|z | w |',
  );
  assert.equal(
    withDelimitedTables('Name,Note,Age\nAda,"said ""no""",7\n'),
    '| Name | Note | Age |\n|---|---|---|\n| Ada | said "no" | 7 |\n',
  );
});

test('columns of words between commas and spaces are a table where a head says so', () => {
  assert.equal(
    withDelimitedTables('Name, Job, Town\nAnna Berg, baker, Varn\nTom Lund, smith, Orlo'),
    '| Name | Job | Town |\n|---|---|---|\n| Anna Berg | baker | Varn |\n| Tom Lund | smith | Orlo |',
  );
});

test('lines of keys and values have no heads', () => {
  assert.equal(
    withDelimitedTables('Weight\t8.4 kg\nMaker\tOrlo Works\nPrice\t$249'),
    '|  |  |\n|---|---|\n| Weight | 8.4 kg |\n| Maker | Orlo Works |\n| Price | $249 |',
  );
});

test('text around a table stays around it', () => {
  assert.equal(
    withDelimitedTables('Prices of 2025, with VAT\nDrink;Size;Price\nAle;0.4 l;£3.90\nAsk at the bar.'),
    'Prices of 2025, with VAT\n\n| Drink | Size | Price |\n|---|---|---|\n| Ale | 0.4 l | £3.90 |\n\nAsk at the bar.',
  );
});

test('prose, lists, code and tables of Markdown stay as they are', async () => {
  for (const file of [
    'passages.jsonl',
    'second.jsonl',
    'third.jsonl',
    'simple.jsonl',
    'structured.jsonl',
    'handbooks.jsonl',
  ])
    for (const { id, passage } of await readBenchPassages(file))
      assert.equal(withDelimitedTables(passage), passage, id);
  for (const text of [
    'Dear Ada, thank you, Bo\nBest wishes, the team, Varn',
    'The price is 5,000\nThe deposit is 6,000\nThe fee is 7,000',
    'It rained; we stayed in\nIt cleared; we went out\nIt was late; we slept',
    'It ended.  Then it began.\nIt rose.  Then it fell.\nIt came.  Then it went.',
    '- a, b, c\n- d, e, f\n- g, h, i',
    '```\nname,size,price\nale,4,3\n```',
    'if (a || b) {\nc || d',
    '12 Mill Lane, Varn\n14 Mill Lane, Varn',
    'Anna Berg, Tom Lund, Ida Dahl\nMaria Holm, Per Strand, Eva Lind\nJon Vik, Siri Moe, Nils Aas',
    'In winter, the cold of night, my home\nIn summer, the long of day, my boat\nIn autumn, the red of leaf, my road',
    'Low tide, grey sand, a gull\nHigh tide, green glass, a sail\nNo tide, black stone, a star',
    'Roses are red,\nViolets are blue,\nSugar is sweet,',
  ])
    assert.equal(withDelimitedTables(text), text);
});

test('a quote without end makes no table, and nothing is lost', () => {
  const text = 'Name,"Size,Price\nAle,4,3\nBeer,5,4';
  assert.equal(withDelimitedTables(text).replace(/[^\p{L}\d]/gu, ''), text.replace(/[^\p{L}\d]/gu, ''));
});

test('prose that looks like a row hides no table below it', () => {
  const table = 'Drink,Size\nAle,0.4 l\nBeer,0.5 l';
  for (const before of ['Dear all, here it is', 'Dear all, here it is\nAs you asked, in one list'])
    assert.equal(
      withDelimitedTables(`${before}\n${table}`),
      `${before}\n\n| Drink | Size |\n|---|---|\n| Ale | 0.4 l |\n| Beer | 0.5 l |`,
    );
});

test('cells that are left out are not made up by the million', () => {
  const text = `${'a\t'.repeat(500)}\n${'a\tb\n'.repeat(100)}`;
  assert.ok(withDelimitedTables(text).length < 3 * text.length);
});
