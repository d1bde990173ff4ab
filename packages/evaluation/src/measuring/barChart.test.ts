import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barChart } from './barChart.js';

const chart = barChart({
  title: 'A < B & "C"',
  groups: ['one', 'two'],
  series: [
    { name: 'base', values: [0, 0.5] },
    { name: 'learned', values: [1, null], ranges: [[0.25, 1], null] },
  ],
});

function attribute(element: string, name: string): number {
  return Number(new RegExp(`${name}="([\\d.]+)"`, 'u').exec(element)?.[1]);
}

test('a bar for each value, as high as its share, and a whisker for each range', () => {
  const bars = chart.split('\n').filter((line) => line.includes('<title>'));
  const heights = bars.map((bar) => attribute(bar, 'height'));
  assert.equal(bars.length, 3, 'none for null');
  const [nothing = NaN, all = NaN, half = NaN] = heights;
  assert.equal(nothing, 0);
  assert.equal(half, all / 2);
  const whiskers = chart.split('\n').filter((line) => line.includes('stroke="#222222"'));
  assert.equal(whiskers.length, 1);
  const length = Math.abs(attribute(whiskers[0] ?? '', 'y1') - attribute(whiskers[0] ?? '', 'y2'));
  assert.equal(length, 0.75 * all);
});

test('every part lies inside, and text is escaped', () => {
  assert.match(chart, /A &lt; B &amp; &quot;C&quot;/);
  const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/u.exec(chart) ?? []).map(Number);
  for (const [, name = '', value = ''] of chart.matchAll(/ ([xy][12]?)="([\d.]+)"/gu)) {
    assert.ok(Number(value) <= (name.startsWith('x') ? width : height), `${name} ${value}`);
  }
});
