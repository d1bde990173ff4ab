import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TokenUsage } from '@engraft/contract';
import { claimJob } from '../jobs/claimJob.js';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning } from '../testing/testVersion.js';
import { teacherCallsOf } from './teacherJournal.js';

test("each answer of a teacher is told once in a claim, however often it is asked for, an earlier claim's too", async () => {
  const database = await openTestDatabase();
  const { db } = database;
  const key = await createTestKey(db, await createTestProject(db));
  await admitTestLearning(db, key);
  const job = await claimJob(db, { worker_id: 'w', kind: 'internalization', leaseMs: 60_000 });
  assert.ok(job !== null);
  const open = () => {
    const told: TokenUsage[] = [];
    const calls = teacherCallsOf(db, job, new AbortController().signal, (usage) => told.push(usage));
    return { told, calls };
  };
  const first = open();
  assert.deepEqual(await first.calls.begin('call'), { kind: 'new' });
  await first.calls.store('call', { text: 'Ghent', usage: { inputTokens: 9, outputTokens: 2, cachedInputTokens: 1 } });
  const later = open();
  for (const { calls } of [first, later, later]) assert.equal((await calls.begin('call')).kind, 'answered');
  const usage = { input_tokens: 9, output_tokens: 2, cached_input_tokens: 1, training_tokens: 0 };
  assert.deepEqual([first.told, later.told], [[usage], [usage]]);
  await database.close();
});
