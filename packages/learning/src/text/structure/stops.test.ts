import assert from 'node:assert/strict';
import test from 'node:test';
import { sayTable } from './sayTable.js';
import { tableOf } from './table.js';

function saidOf(caption: string, ...lines: readonly string[]) {
  const [heads = [], ...rows] = lines.map((line) => line.split('|').map((cell) => cell.trim()));
  return sayTable(tableOf(heads, rows), { subject: null, caption });
}

function sentencesOf(...lines: readonly string[]): string[] {
  return saidOf('', ...lines).map(({ text }) => text);
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

test('a column of what happens is no stop', () => {
  assert.deepEqual(sentencesOf('Train | Departure | Arrival', 'IC 3 | 6:10 | 8:40', 'IC 5 | 8:10 | 10:40'), [
    'For IC 3 the departure is at 6:10.',
    'For IC 3 the arrival is at 8:40.',
    'For IC 5 the departure is at 8:10.',
    'For IC 5 the arrival is at 10:40.',
  ]);
  assert.deepEqual(
    sentencesOf('Flight | Boarding | Departure', 'LX 3 | 6:10 | 6:50', 'LX 5 | 8:10 | 8:50').slice(0, 2),
    ['For LX 3 the boarding is at 6:10.', 'For LX 3 the departure is at 6:50.'],
  );
});

test('laps are no stops, and neither is what costs something', () => {
  assert.deepEqual(sentencesOf('Runner | Lap 1 | Lap 2', 'Ada | 1:02 | 1:05', 'Bo | 1:04 | 1:09').slice(0, 2), [
    'For Ada the lap 1 is 1:02.',
    'For Ada the lap 2 is 1:05.',
  ]);
  for (const caption of ['', 'Fares', 'Train fares', 'Train times']) {
    const said = saidOf(caption, 'Ticket | P1 | P2', 'Adult | 3.20 | 4.80', 'Child | 1.60 | 2.40');
    for (const { text, told } of said) {
      assert.notEqual(told?.kind, 'stop', text);
      assert.doesNotMatch(text, / at /u);
    }
  }
});

test('only times that ascend along a ride are those of its stops', () => {
  const ascending = saidOf('', 'Train | Varn | Holm', 'IC 3 | 23:50 | 0:40', 'IC 5 | 8:10 | 8:32');
  // A time after midnight may be a duration.
  assert.ok(ascending.every(({ told }) => told?.kind !== 'stop'));
  const late = saidOf('', 'Train | Varn | Holm', 'IC 3 | 23:50 | 00:40', 'IC 5 | 8:10 | 8:32');
  assert.ok(late.every(({ told }) => told?.kind === 'stop'));
  const descending = saidOf('', 'Train | Varn | Holm', 'IC 3 | 6:10 | 6:02', 'IC 5 | 8:10 | 8:32');
  assert.ok(descending.every(({ told }) => told?.kind !== 'stop'));
});

test('rides with codes above stops are told below a caption about such rides only', () => {
  const lines = [' | R 11 | R 13', 'Varn | 7:12 | 8:12', 'Holm | 7:40 | 8:40'];
  assert.equal(saidOf('Trains to Holm', ...lines)[0]?.text, 'R 11 is at Varn at 7:12.');
  assert.ok(saidOf('Results', ...lines).every(({ told }) => told?.kind !== 'stop'));
  assert.ok(saidOf('Travel times by train', ...lines).every(({ told }) => told?.kind !== 'stop'));
});

test('a ride does not arrive at its first stop, nor leave its last one', () => {
  const ends = saidOf('', 'Train | Varn | Holm | Kingsbay', 'R 13 | 6:10 | 6:32 | 6:50', 'R 15 | – | 8:32 | 8:50');
  assert.deepEqual(
    ends.map(({ told }) => told?.kind === 'stop' && [told.ride, told.stop, told.isOrigin, told.isTerminus]),
    [
      ['R 13', 'Varn', true, false],
      ['R 13', 'Holm', false, false],
      ['R 13', 'Kingsbay', false, true],
      ['R 15', 'Holm', true, false],
      ['R 15', 'Kingsbay', false, true],
    ],
  );
});
