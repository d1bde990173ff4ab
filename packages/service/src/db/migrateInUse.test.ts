import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { migrate, migrationsFolder } from './migrate.js';

describe('migrate, while the release before works', () => {
  let database: TestDatabase;
  let folder: string;
  before(async () => {
    database = await openTestDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-migrate-'));
    await cp(migrationsFolder, folder, { recursive: true });
  });
  after(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });

  /** Until the migration waits for a table. */
  async function untilItWaits(): Promise<void> {
    for (;;) {
      const { rows } = await sql`
        select from pg_locks join pg_stat_activity using (pid)
          where not granted and locktype = 'relation' and application_name = 'engraft-migrate'
            and datname = current_database()`.execute(database.owner);
      if (rows.length > 0) return;
      await delay(10);
    }
  }

  async function meet(migration: string, deadlockTimeout: string): Promise<string[]> {
    await writeFile(
      path.join(folder, `${migration}.sql`),
      'LOCK TABLE versions IN SHARE ROW EXCLUSIVE MODE; LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE;',
    );
    const url = new URL(database.url);
    url.searchParams.set('options', `-c deadlock_timeout=${deadlockTimeout}`);
    // Never the victim of a deadlock while the test runs.
    const other = new pg.Client({ connectionString: database.url, options: '-c deadlock_timeout=1h' });
    await other.connect();
    try {
      await other.query('BEGIN; SELECT FROM jobs');
      const migrating = migrate(url.href, folder);
      await Promise.race([migrating, untilItWaits()]);
      await other.query('UPDATE versions SET size_bytes = size_bytes; COMMIT');
      return await migrating;
    } finally {
      await other.end();
    }
  }

  it('gives way to a transaction that needs what it has, and then goes on', async () => {
    assert.deepEqual(await meet('9998_late', '1s'), ['9998_late']);
  });

  it('goes on after it was the victim of a deadlock', async () => {
    assert.deepEqual(await meet('9999_later', '100ms'), ['9999_later']);
  });
});
