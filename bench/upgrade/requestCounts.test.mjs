import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestCounts } from './requestCounts.mjs';

test('requests count for the phase in which they were sent, and answers for that in which they came', async () => {
  const counts = new RequestCounts();
  let end;
  const ending = new Promise((resolve) => (end = resolve));
  const client = counts.counted({
    inferences: { create: () => Promise.reject(new Error('503')) },
    internalizations: { create: () => Promise.resolve({ id: 'job' }) },
    jobs: { get: () => ending },
  });
  counts.enter('old alone');
  await assert.rejects(client.inferences.create({}), /503/);
  const answer = client.jobs.get('job');
  counts.enter('both');
  end({ status: 'succeeded' });
  assert.deepEqual(await answer, { status: 'succeeded' });
  assert.deepEqual(await client.internalizations.create({}), { id: 'job' });
  const told = counts.end().map(({ phase, requests, refused, answers }) => [phase, requests, refused, answers]);
  assert.deepEqual(told, [
    ['old alone', 2, 1, 0],
    ['both', 1, 0, 1],
  ]);
  assert.deepEqual([...counts.refusals], ['old alone: a request was refused: Error: 503']);
});
