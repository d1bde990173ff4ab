import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion } from '../testing/testVersion.js';

const program = fileURLToPath(new URL('../../bin/engraft.js', import.meta.url));

describe('a service without an engine', () => {
  let database: TestDatabase;
  let data_folder: string;
  before(async () => {
    database = await openTestDatabase();
    data_folder = await mkdtemp(path.join(tmpdir(), 'engraft-run-service-'));
  });
  after(async () => {
    await database.close();
    await rm(data_folder, { recursive: true });
  });

  it('hosts versions all the same, and has made good what it missed when it is ready to serve', async (t) => {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const { id } = await createTestVersion(database.db, key);
    const missed = {
      created_at: sql<Date>`now() - interval '2 days'`,
      expires_at: sql<Date>`now() - interval '1 day'`,
    };
    await database.db.updateTable('versions').set(missed).where('id', '=', id).execute();

    const serve = spawn(process.execPath, [program, 'serve', '--port', '0'], {
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: database.url,
        ENGRAFT_DATA_DIR: data_folder,
        ENGRAFT_ENGINE: 'off',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    t.after(() => void serve.kill('SIGKILL'));
    await once(serve.stdout, 'data');
    const { retained } = await database.db
      .selectFrom('versions')
      .select(sql<boolean>`expires_at > now()`.as('retained'))
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    assert.ok(retained);
    serve.kill('SIGTERM');
    assert.deepEqual(await once(serve, 'exit'), [0, null]);
  });
});
