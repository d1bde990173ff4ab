import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql, type Kysely } from 'kysely';
import { openFolderStore } from '../adapterStore/folderStore.js';
import { openDatabase } from '../db/database.js';
import { migrate, migrationsFolder } from '../db/migrate.js';
import type { Database } from '../db/schema.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { withEmptyDatabase } from '../testing/emptyDatabase.js';
import { schemaRules, tableContents } from '../testing/tableContents.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { makeBackup } from './makeBackup.js';
import { restoreBackup } from './restoreBackup.js';

/** Rows that a service of any release may have written; columns that came later have defaults. */
const rows = `
  INSERT INTO projects (id, name) VALUES ('p', 'p');
  INSERT INTO api_keys (id, project_id, name, secret_sha256, scopes)
    VALUES ('k', 'p', 'k', sha256('k'), ARRAY['internalize', 'read']);
  INSERT INTO accounts (id, kind, project_id)
    SELECT kind || ':p', kind, 'p' FROM unnest(ARRAY['available', 'reserved', 'spent']) AS kind;
  INSERT INTO subjects (id, project_id, tenant_id, name) VALUES ('s', 'p', NULL, 's'), ('t', 'p', 'tenant', 's');
  BEGIN;
  INSERT INTO jobs (id, project_id, subject_ref, subject_name, api_key_id, kind, status, settled, adapter_version,
      request, result, pricing_version, reserved_microusd, compute_microusd, storage_microusd)
    VALUES ('done', 'p', 's', 's', 'k', 'internalization', 'ready', true, 'base', '{}', '"\\u0000"', 'v', 10, 5, 1),
           ('open', 'p', 's', 's', 'k', 'internalization', 'queued', false, 'base', '{"a":  1}', NULL, 'v', 7, 0, 0);
  INSERT INTO job_phases (job_id, phase, outcome, input_tokens, output_tokens, cached_input_tokens, training_tokens)
    VALUES ('done', 'teaching', '{}', 1, 2, 0, 0);
  INSERT INTO idempotency_keys (project_id, key, fingerprint_sha256, api_key_id, job_id)
    VALUES ('p', 'i', sha256('i'), 'k', 'open');
  INSERT INTO versions (id, subject_ref, source_job_id, adapter_hash, size_bytes, passed_count, total_count, rehearsal,
      expires_at) VALUES ('v', 's', 'done', 'sha256:' || repeat('0', 64), 1, 1, 1, '{}', now() + interval '1 hour');
  UPDATE subjects SET active_version_id = 'v' WHERE id = 's';
  INSERT INTO transfers (kind, from_account, to_account, amount_microusd, job_id, version_id)
    VALUES ('grant', 'issued', 'available:p', 100, NULL, NULL),
           ('reserve', 'available:p', 'reserved:p', 10, 'done', NULL),
           ('post', 'reserved:p', 'spent:p', 6, 'done', NULL),
           ('void', 'reserved:p', 'available:p', 4, 'done', NULL),
           ('reserve', 'available:p', 'reserved:p', 7, 'open', NULL),
           ('hosting', 'available:p', 'spent:p', 1, NULL, 'v');
  COMMIT`;

/** Every migration ends a schema that a release may have had. */
describe('a database of an older schema', async () => {
  const schemas = (await readdir(migrationsFolder)).map((file) => path.basename(file, '.sql')).sort();
  let database: TestDatabase;
  let home: string;
  let newest: readonly string[];
  before(async () => {
    database = await openTestDatabase();
    home = await mkdtemp(path.join(tmpdir(), 'engraft-schemas-'));
    newest = await schemaRules(database.owner);
  });
  after(async () => {
    await database.close();
    await rm(home, { recursive: true });
  });

  const withDatabase = <Result>(work: (url: string, db: Kysely<Database>) => Promise<Result>): Promise<Result> =>
    withEmptyDatabase(database, (url) => {
      const db = openDatabase(url, { maxConnections: 3 });
      return work(url, db).finally(() => db.destroy());
    });

  async function assertNewest(db: Kysely<Database>): Promise<void> {
    assert.deepEqual(await schemaRules(db), newest);
    assert.deepEqual((await verifyLedger(db)).differences, []);
  }

  for (const schema of schemas) {
    it(`${schema} becomes one of the newest, in its place and from a backup alike`, async () => {
      const folder = path.join(home, schema);
      await cp(migrationsFolder, folder, { recursive: true });
      for (const later of await readdir(folder)) if (later > `${schema}.sql`) await rm(path.join(folder, later));
      const file = path.join(home, `${schema}.tar.gz`);
      const inItsPlace = await withDatabase(async (url, db) => {
        await migrate(url, folder);
        await sql.raw(rows).execute(db);
        const store = await openFolderStore(home);
        await makeBackup({ db, dataFolder: home, store, file, engraft_version: '0.0.0' });
        assert.deepEqual(await migrate(url), schemas.slice(schemas.indexOf(schema) + 1));
        await assertNewest(db);
        return tableContents(db);
      });
      await withDatabase(async (databaseUrl, db) => {
        const report = await restoreBackup({ file, dataFolder: path.join(home, `of ${schema}`), databaseUrl });
        assert.deepEqual(report.migrations, schemas.slice(schemas.indexOf(schema) + 1));
        await assertNewest(db);
        // Its adapter has never been there, and the others have the time at which a migration made their rows.
        const comparable = ([table]: [string, unknown]) => !['versions', 'clock', 'kept_adapters'].includes(table);
        const restored = Object.entries(await tableContents(db)).filter(comparable);
        assert.deepEqual(restored, Object.entries(inItsPlace).filter(comparable));
      });
    });
  }
});
