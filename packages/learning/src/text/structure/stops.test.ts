import assert from 'node:assert/strict';
import test from 'node:test';
import { sayTable } from './sayTable.js';
import { tableOf } from './table.js';

function sentencesOf(...lines: readonly string[]): string[] {
  const [heads = [], ...rows] = lines.map((line) => line.split('|').map((cell) => cell.trim()));
  return sayTable(tableOf(heads, rows), { subject: null, caption: '' }).map(({ text }) => text);
}

test('a ride is at its stops at the times of its row or column', () => {
  const wanted = ['IC 3 is at Varn at 6:10.', 'IC 3 is at Holm at 6:32.', 'IC 5 is at Varn at 8:10.'];
  assert.deepEqual(sentencesOf('Train | Varn | Holm', 'IC 3 | 6:10 | 6:32', 'IC 5 | 8:10 | –'), wanted);
  assert.deepEqual(sentencesOf('Stop | IC 3 | IC 5', 'Varn | 6:10 | 8:10', 'Holm | 6:32 | –'), wanted);
});

test('a stop has a first and a last ride at some time, and one every few minutes', () => {
  assert.deepEqual(
    sentencesOf(
      'Stop | First bus | Last bus | Every',
      'Mill Lane | 5:42 | 22:12 | 20 min',
      'Town Hall | 6:03 | 22:33 | 20 min',
    ),
    [
      'The first bus of Mill Lane is at 5:42.',
      'The last bus of Mill Lane is at 22:12.',
      'The frequency of Mill Lane is every 20 min.',
      'The first bus of Town Hall is at 6:03.',
      'The last bus of Town Hall is at 22:33.',
      'The frequency of Town Hall is every 20 min.',
    ],
  );
});

test('a preposition above a column is no attribute', () => {
  assert.deepEqual(sentencesOf('Tour | Guide | From', 'Castle | Ada Kell | 9:30', 'Caves | Bo Lind | 14:00'), [
    'The guide of Castle is Ada Kell.',
    'Castle: from 9:30.',
    'The guide of Caves is Bo Lind.',
    'Caves: from 14:00.',
  ]);
});
