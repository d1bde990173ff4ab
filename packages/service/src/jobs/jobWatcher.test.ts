import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { admitJob } from '../admission/admitJob.js';
import type { Database } from '../db/schema.js';
import { createTestKey, createTestProject, plentyOfJobs, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { claimJob } from './claimJob.js';
import { failJob } from './failJob.js';
import { startJobWatcher } from './jobWatcher.js';

describe('job watcher', () => {
  let database: TestDatabase;
  let key: TestKey;
  /** The watcher's own connections, to count its queries. */
  let watched: Kysely<Database>;
  let queries = 0;
  let admitted = 0;
  const never = new AbortController().signal;
  before(async () => {
    database = await openTestDatabase();
    key = await createTestKey(database.db, await createTestProject(database.db));
    const pool = new pg.Pool({ connectionString: database.url });
    // One that is still closing when the database goes.
    pool.on('error', () => undefined);
    const dialect = new PostgresDialect({ pool });
    watched = new Kysely<Database>({ dialect, log: () => void (queries += 1) });
  });
  after(async () => {
    await watched.destroy();
    await database.close();
  });

  async function admit(): Promise<string> {
    admitted += 1;
    const outcome = await admitJob(
      { db: database.db, execution: 'on', open_jobs: plentyOfJobs, countTokens: () => 10, contextLength: 1000 },
      {
        key,
        tenant_id: null,
        subject_id: null,
        adapter_version: undefined,
        endpoint: '/v1/test',
        idempotency_key: `watched-${admitted}`,
        request: {
          kind: 'inference',
          messages: [{ role: 'user', content: 'question' }],
          tools: [],
          tool_choice: 'auto',
          parallel_tool_calls: true,
          response_format: { type: 'text' },
          max_output_tokens: 20,
          temperature: 0,
        },
      },
    );
    return outcome.kind === 'admitted' ? outcome.job_id : assert.fail(outcome.kind);
  }

  async function endOldest(): Promise<void> {
    const job = await claimJob(database.db, { worker_id: 'w', kind: 'inference', leaseMs: 60_000 });
    assert.ok(job !== null);
    await failJob(database.db, job, 'internal_error');
  }

  it('tells everybody who waits for a job that it ended, and nobody else', async () => {
    const watcher = startJobWatcher(watched);
    const [first, second] = [await admit(), await admit()];
    const waits = [first, first, second].map((jobId) => watcher.wait(jobId, 1_000, never));
    await endOldest();
    assert.deepEqual(await Promise.all(waits), [true, true, false]);
    await endOldest();
  });

  it('notices a job that ended before anybody waited', async () => {
    const jobId = await admit();
    await endOldest();
    assert.equal(await startJobWatcher(watched).wait(jobId, 10_000, never), true);
  });

  it('asks the database once for all who wait, and not at all when nobody does', async () => {
    const watcher = startJobWatcher(watched);
    const ids = [await admit(), await admit(), await admit()];
    queries = 0;
    await Promise.all(Array.from({ length: 300 }, (_, index) => watcher.wait(ids[index % 3]!, 500, never)));
    assert.ok(queries > 0 && queries <= 11, `${queries} queries`);
    await sleep(100);
    const asked = queries;
    await sleep(200);
    assert.equal(queries, asked);
    for (const id of ids) {
      assert.ok(id);
      await endOldest();
    }
  });

  it('lets go of who has gone away, and of all when it closes', async () => {
    const watcher = startJobWatcher(watched);
    const jobId = await admit();
    const leaving = new AbortController();
    const left = watcher.wait(jobId, 60_000, leaving.signal);
    const staying = watcher.wait(jobId, 60_000, never);
    leaving.abort();
    assert.equal(await left, false);
    assert.equal(await watcher.wait(jobId, 60_000, leaving.signal), false);
    watcher.close(20);
    assert.equal(await staying, false);
    assert.equal(await watcher.wait(jobId, 60_000, never), false);
    await endOldest();
  });

  it('waits on while the database cannot be asked', async () => {
    const pool = new pg.Pool({ host: '127.0.0.1', port: 1 });
    const watcher = startJobWatcher(new Kysely<Database>({ dialect: new PostgresDialect({ pool }) }));
    assert.equal(await watcher.wait('job_1', 200, never), false);
  });
});
