import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { openCountedDatabase, openDatabase } from '../db/database.js';
import { claimJob } from '../jobs/claimJob.js';
import { openInstallation } from '../startup/installation.js';
import { createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning } from '../testing/testVersion.js';
import { watchPool } from './poolMetrics.js';
import { watchQueue } from './queueMetrics.js';

describe('what is measured of the database', () => {
  let database: TestDatabase;
  let key: TestKey;
  before(async () => {
    database = await openTestDatabase();
    key = await createTestKey(database.db, await createTestProject(database.db));
  });
  after(() => database.close());

  async function read(watch: (registry: Registry) => void): Promise<(series: string) => number> {
    const registry = new Registry();
    watch(registry);
    const text = await registry.metrics();
    return (series) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.slice(series.length),
      );
  }

  it('counts open jobs of all projects by what they wait for, and tells the age of the oldest that is queued', async () => {
    const other = await createTestKey(database.db, await createTestProject(database.db));
    const ids = [];
    for (const [index, each] of [key, key, key, other].entries()) {
      ids.push(await admitTestLearning(database.db, each, { subject_id: `queued-${index}` }));
    }
    const claimed = await claimJob(database.db, { worker_id: 'w', kind: 'internalization', leaseMs: 60_000 });
    assert.equal(claimed?.job_id, ids[0]);
    await database.db
      .updateTable('jobs')
      .set({ status: 'reconciliation_required' })
      .where('id', '=', ids[1] ?? '')
      .execute();
    const anHourAgo = { created_at: sql<Date>`now() - interval '1 hour'` };
    await database.db
      .updateTable('jobs')
      .set(anHourAgo)
      .where('id', '=', ids[2] ?? '')
      .execute();
    const value = await read((registry) => watchQueue(database.db, registry));
    const jobs = (kind: string, status: string) => value(`engraft_open_jobs{kind="${kind}",status="${status}"}`);
    assert.deepEqual(
      ['queued', 'running', 'reconciliation_required'].map((status) => jobs('internalization', status)),
      [2, 1, 1],
    );
    assert.equal(jobs('inference', 'queued'), 0);
    assert.ok(value('engraft_queue_oldest_seconds{kind="internalization"}') >= 3_600);
    assert.equal(value('engraft_queue_oldest_seconds{kind="inference"}'), 0);
    assert.equal(value('engraft_database_reachable'), 1);
  });

  it('says that the database is away, and has no numbers of its jobs then', async () => {
    const nobody = openDatabase('postgres://127.0.0.1:1/none', { maxConnections: 1 });
    const value = await read((registry) => watchQueue(nobody, registry));
    assert.equal(value('engraft_database_reachable'), 0);
    assert.ok(Number.isNaN(value('engraft_open_jobs{kind="inference",status="queued"}')));
    await nobody.destroy();
  });

  it('says that the database is there though all connections of the service are busy', async () => {
    const dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-metrics-'));
    const installation = await openInstallation({ dataFolder, databaseUrl: database.url }, { maxConnections: 1 });
    const value = await installation.db.transaction().execute(async (trx) => {
      await sql`select 1`.execute(trx);
      return read((registry) => watchQueue(installation.watching, registry));
    });
    assert.equal(value('engraft_database_reachable'), 1);
    await installation.close();
    await rm(dataFolder, { recursive: true });
  });

  it('counts the connections in use, idle and waited for', async () => {
    const { db, counts } = openCountedDatabase(database.url, { maxConnections: 1 });
    const state = async () => {
      const value = await read((registry) => watchPool(counts, registry));
      const [inUse, idle] = ['in_use', 'idle'].map((each) => value(`engraft_database_connections{state="${each}"}`));
      return {
        in_use: inUse,
        idle,
        waiting: value('engraft_database_waiting'),
        max: value('engraft_database_connections_max'),
      };
    };
    await sql`select 1`.execute(db);
    assert.deepEqual(await state(), { in_use: 0, idle: 1, waiting: 0, max: 1 });
    const waiting = await db.transaction().execute(async (trx) => {
      await sql`select 1`.execute(trx);
      const second = sql`select 1`.execute(db);
      assert.deepEqual(await state(), { in_use: 1, idle: 0, waiting: 1, max: 1 });
      return { second };
    });
    await waiting.second;
    assert.deepEqual(await state(), { in_use: 0, idle: 1, waiting: 0, max: 1 });
    await db.destroy();
  });
});
