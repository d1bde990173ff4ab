import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { inBatches } from './inBatches.js';

interface Batch {
  readonly items: readonly string[];
  readonly end: (error?: Error) => void;
}

/** Work that ends when the test says so. The name of an item is its first letter; its result is in capitals. */
function heldWork(pause?: () => Promise<void>) {
  const batches: Batch[] = [];
  const call = inBatches(
    (item: string) => item.slice(0, 1),
    (items) =>
      new Promise<string[]>((resolve, reject) => {
        const end = (error?: Error): void => {
          if (error === undefined) resolve(items.map((item) => item.toUpperCase()));
          else reject(error);
        };
        batches.push({ items, end });
      }),
    pause,
  );
  return { batches, call, begun: () => batches.map(({ items }) => items) };
}

test('the first is served at once, and those of its name that come meanwhile together after it', async () => {
  const { batches, call, begun } = heldWork();
  const [first, second, third] = [call('a1'), call('a2'), call('a3')];
  assert.deepEqual(begun(), [['a1']]);
  batches[0]?.end();
  assert.equal(await first, 'A1');
  await turn();
  assert.deepEqual(begun(), [['a1'], ['a2', 'a3']]);
  const fourth = call('a4');
  batches[1]?.end();
  assert.deepEqual(await Promise.all([second, third]), ['A2', 'A3']);
  await turn();
  batches[2]?.end();
  assert.equal(await fourth, 'A4');
  await turn();
  const later = call('a5');
  assert.deepEqual(begun(), [['a1'], ['a2', 'a3'], ['a4'], ['a5']]);
  batches[3]?.end();
  assert.equal(await later, 'A5');
});

test('names do not wait for each other', async () => {
  const { batches, call, begun } = heldWork();
  const calls = [call('a1'), call('b1')];
  assert.deepEqual(begun(), [['a1'], ['b1']]);
  for (const { end } of batches) end();
  assert.deepEqual(await Promise.all(calls), ['A1', 'B1']);
});

test('an error is for its own batch alone', async () => {
  const { batches, call } = heldWork();
  const [first, second] = [call('a1'), call('a2')];
  batches[0]?.end(new Error('the database is away'));
  await assert.rejects(first, /the database is away/);
  await turn();
  batches[1]?.end();
  assert.equal(await second, 'A2');
});

test('after a pause those that came in it are served, too, and the first of all never waits', async () => {
  let endPause = (): void => assert.fail('nobody waits yet');
  const { batches, call, begun } = heldWork(() => new Promise((resolve) => (endPause = resolve)));
  const [first, second] = [call('a1'), call('a2')];
  assert.deepEqual(begun(), [['a1']]);
  batches[0]?.end();
  assert.equal(await first, 'A1');
  await turn();
  const third = call('a3');
  assert.deepEqual(begun(), [['a1']]);
  endPause();
  await turn();
  assert.deepEqual(begun(), [['a1'], ['a2', 'a3']]);
  batches[1]?.end();
  assert.deepEqual(await Promise.all([second, third]), ['A2', 'A3']);
});
