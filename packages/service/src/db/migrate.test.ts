import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, rm, writeFile, appendFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { attachEmbeddedPostgres, type EmbeddedPostgres } from './embeddedPostgres/index.js';
import { openDatabase } from './database.js';
import { migrate, migrationsFolder } from './migrate.js';

describe('migrate', () => {
  let folder: string;
  let server: EmbeddedPostgres;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-migrate-'));
    server = await attachEmbeddedPostgres(path.join(folder, 'data'));
  });
  after(async () => {
    await server.release();
    await rm(folder, { recursive: true });
  });

  async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client(url);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async function makeDatabase(): Promise<string> {
    const name = `test_${randomBytes(4).toString('hex')}`;
    await query(server.url, `CREATE DATABASE ${name}`);
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  async function copyMigrations(): Promise<string> {
    const copy = await mkdtemp(path.join(folder, 'migrations-'));
    await cp(migrationsFolder, copy, { recursive: true });
    return copy;
  }

  async function copyMigrationsBefore(name: string): Promise<string> {
    const copy = await copyMigrations();
    for (const each of await readdir(copy)) if (each >= name) await rm(path.join(copy, each));
    return copy;
  }

  it('brings an empty database to the newest schema, and then has nothing to do', async () => {
    const url = await makeDatabase();
    const applied = await migrate(url);
    assert.equal(applied[0], '0001_initial');
    assert.deepEqual(await migrate(url), []);
    assert.equal((await query(url, 'SELECT * FROM schema_migrations')).length, applied.length);
    assert.deepEqual(await query(url, 'SELECT count(*)::int AS n FROM jobs'), [{ n: 0 }]);
  });

  it('records of existing versions whose retention has ended and whose adapters are kept', async () => {
    const url = await makeDatabase();
    const copy = await copyMigrationsBefore('0004');
    await migrate(url, copy);
    await query(
      url,
      `INSERT INTO projects (id, name) VALUES ('p', 'p');
       INSERT INTO api_keys (id, project_id, name, secret_sha256, scopes)
         VALUES ('k', 'p', 'k', sha256('k'), ARRAY['internalize']);
       INSERT INTO subjects (id, project_id, name) VALUES ('s', 'p', 's');
       INSERT INTO jobs (id, project_id, subject_ref, subject_name, api_key_id, kind, status, settled, adapter_version,
           request, pricing_version, reserved_microusd)
         SELECT 'job_' || name, 'p', 's', 's', 'k', 'internalization', 'ready', true, 'base', '{}', 'v', 1
         FROM unnest(ARRAY['alive', 'expired', 'deleted']) AS name;
       INSERT INTO versions (id, subject_ref, source_job_id, adapter_hash, size_bytes, passed_count, total_count,
           rehearsal, expires_at, files_deleted_at)
         VALUES ('alive', 's', 'job_alive', 'same', 1, 1, 1, '{}', now() + interval '1 hour', NULL),
                ('expired', 's', 'job_expired', 'same', 1, 1, 1, '{}', now() - interval '1 day', NULL),
                ('deleted', 's', 'job_deleted', 'other', 1, 1, 1, '{}', now() - interval '9 days', now());`,
    );
    const beforeGrowth = await copyMigrationsBefore('0022');
    assert.ok((await migrate(url, beforeGrowth)).includes('0004_retention'));
    assert.deepEqual(
      await query(url, 'SELECT id, retention_ended_at = expires_at AS ended FROM versions ORDER BY expires_at DESC'),
      [
        { id: 'alive', ended: null },
        { id: 'expired', ended: true },
        { id: 'deleted', ended: true },
      ],
    );
    assert.deepEqual(await query(url, 'SELECT adapter_hash, job_id FROM kept_adapters ORDER BY job_id'), [
      { adapter_hash: 'same', job_id: 'job_alive' },
      { adapter_hash: 'same', job_id: 'job_expired' },
    ]);
    // A version stands for its adapter now.
    await migrate(url);
    assert.deepEqual(await query(url, 'SELECT adapter_hash, job_id FROM kept_adapters'), []);
  });

  it('adds up what existing projects have spent and what waits', async () => {
    const url = await makeDatabase();
    const copy = await copyMigrationsBefore('0022');
    await migrate(url, copy);
    await query(
      url,
      `INSERT INTO projects (id, name) VALUES ('p', 'p');
       INSERT INTO api_keys (id, project_id, name, secret_sha256, scopes)
         VALUES ('k', 'p', 'k', sha256('k'), ARRAY['internalize']);
       INSERT INTO accounts (id, kind, project_id)
         SELECT kind || ':p', kind, 'p' FROM unnest(ARRAY['available', 'reserved', 'spent']) AS kind;
       INSERT INTO transfers (kind, from_account, to_account, amount_microusd)
         VALUES ('grant', 'issued', 'available:p', 90);
       BEGIN;
       INSERT INTO jobs (id, project_id, subject_name, api_key_id, kind, status, settled, adapter_version, request,
           pricing_version, reserved_microusd, compute_microusd)
         VALUES ('asked', 'p', 's', 'k', 'inference', 'succeeded', true, 'base', '{}', 'v', 10, 10),
                ('learned', 'p', 's', 'k', 'internalization', 'rejected', true, 'base', '{}', 'v', 7, 7),
                ('waits', 'p', 's', 'k', 'inference', 'queued', false, 'base', '{}', 'v', 3, 0);
       INSERT INTO transfers (kind, from_account, to_account, amount_microusd, job_id, created_at)
         VALUES ('reserve', 'available:p', 'reserved:p', 10, 'asked', '2026-02-28T23:00Z'),
                ('post', 'reserved:p', 'spent:p', 10, 'asked', '2026-02-28T23:59Z'),
                ('refund', 'spent:p', 'available:p', 4, 'asked', '2026-03-01T00:00Z'),
                ('reserve', 'available:p', 'reserved:p', 7, 'learned', '2026-03-01T00:00Z'),
                ('post', 'reserved:p', 'spent:p', 7, 'learned', '2026-03-01T00:01Z'),
                ('reserve', 'available:p', 'reserved:p', 3, 'waits', now());
       COMMIT`,
    );
    await migrate(url);
    const sums = 'SELECT month::text, spent_microusd::int, learning_microusd::int FROM monthly_spending ORDER BY month';
    assert.deepEqual(await query(url, sums), [
      { month: '2026-02-01', spent_microusd: 10, learning_microusd: 0 },
      { month: '2026-03-01', spent_microusd: 3, learning_microusd: 7 },
    ]);
    assert.deepEqual(await query(url, 'SELECT kind, queued, waits FROM project_turns'), [
      { kind: 'inference', queued: 1, waits: true },
    ]);
    assert.deepEqual(await query(url, 'SELECT sum(jobs)::int AS open FROM open_jobs_of_service'), [{ open: 1 }]);
    const db = openDatabase(url, { maxConnections: 1 });
    assert.deepEqual((await verifyLedger(db).finally(() => db.destroy())).differences, []);
  });

  it('records by whom the retention of existing versions was ended, where that can be known', async () => {
    const url = await makeDatabase();
    const copy = await copyMigrationsBefore('0006');
    await migrate(url, copy);
    await query(
      url,
      `INSERT INTO projects (id, name) VALUES ('p', 'p');
       INSERT INTO api_keys (id, project_id, name, secret_sha256, scopes)
         VALUES ('k', 'p', 'k', sha256('k'), ARRAY['internalize']);
       INSERT INTO subjects (id, project_id, name) VALUES ('s', 'p', 's');
       INSERT INTO jobs (id, project_id, subject_ref, subject_name, api_key_id, kind, adapter_version, request,
           pricing_version, reserved_microusd)
         SELECT name, 'p', 's', 's', 'k', 'internalization', 'base', '{}', 'v', 1
         FROM unnest(ARRAY['alive', 'by hand', 'by a round']) AS name;
       INSERT INTO versions (id, subject_ref, source_job_id, adapter_hash, size_bytes, passed_count, total_count,
           rehearsal, expires_at, retention_ended_at)
         VALUES ('alive', 's', 'alive', 'same', 1, 1, 1, '{}', now() + interval '1 hour', NULL),
                ('by hand', 's', 'by hand', 'same', 1, 1, 1, '{}', now(), now()),
                ('by a round', 's', 'by a round', 'same', 1, 1, 1, '{}', now() - interval '1 minute', now());`,
    );
    await migrate(url);
    assert.deepEqual(await query(url, 'SELECT id, retention_ended_by FROM versions ORDER BY id'), [
      { id: 'alive', retention_ended_by: null },
      { id: 'by a round', retention_ended_by: 'retention' },
      { id: 'by hand', retention_ended_by: null },
    ]);
  });

  it('brings the rules of the ledger to a database that broke them: it starts, says so, and breaks them no more', async () => {
    const url = await makeDatabase();
    const copy = await copyMigrationsBefore('0006');
    await migrate(url, copy);
    await query(
      url,
      `INSERT INTO projects (id, name) VALUES ('p', 'p'), ('q', 'q');
       INSERT INTO api_keys (id, project_id, name, secret_sha256, scopes)
         VALUES ('k', 'p', 'k', sha256('k'), ARRAY['internalize']);
       INSERT INTO accounts (id, kind, project_id)
         SELECT kind || ':p', kind, 'p' FROM unnest(ARRAY['available', 'reserved', 'spent']) AS kind;
       INSERT INTO accounts (id, kind, project_id) VALUES ('odd', 'spent', 'q');
       INSERT INTO subjects (id, project_id, name) VALUES ('s', 'p', 's'), ('other', 'p', 'other');
       INSERT INTO jobs (id, project_id, subject_ref, subject_name, api_key_id, kind, adapter_version, request,
           pricing_version, reserved_microusd)
         VALUES ('j', 'p', 's', 's', 'k', 'internalization', 'base', '{}', 'v', 10);
       INSERT INTO versions (id, subject_ref, source_job_id, adapter_hash, size_bytes, passed_count, total_count,
           rehearsal, expires_at) VALUES ('v', 's', 'j', 'sha256:0', 1, 1, 1, '{}', now());
       UPDATE subjects SET active_version_id = 'v';
       INSERT INTO transfers (kind, from_account, to_account, amount_microusd, job_id)
         VALUES ('grant', 'issued', 'available:p', 100, NULL), ('reserve', 'available:p', 'reserved:p', 10, 'j'),
                ('grant', 'available:p', 'spent:p', 1, NULL), ('hosting', 'available:p', 'spent:p', 1, NULL);`,
    );
    assert.ok((await migrate(url)).includes('0006_ledger_rules'));
    const db = openDatabase(url, { maxConnections: 1 });
    const { differences } = await verifyLedger(db).finally(() => db.destroy());
    assert.deepEqual(differences, [
      'project q has 1 accounts instead of 3',
      'account odd is named otherwise than its kind spent and project q',
      'transfer 3 (grant) goes from available:p to spent:p',
      'transfer 4 (hosting) names no version',
    ]);
    // A worker of the release before ends its job.
    await query(
      url,
      `BEGIN;
       INSERT INTO transfers (kind, from_account, to_account, amount_microusd, job_id)
         VALUES ('post', 'reserved:p', 'spent:p', 6, 'j'), ('void', 'reserved:p', 'available:p', 4, 'j');
       UPDATE jobs SET status = 'ready', settled = true, compute_microusd = 6 WHERE id = 'j';
       COMMIT`,
    );
    const again = `INSERT INTO transfers (kind, from_account, to_account, amount_microusd) VALUES ('grant', 'available:p', 'spent:p', 1)`;
    await assert.rejects(query(url, again), { code: '23514' });
  });

  it('says which rule the rows of a database break, and what finds them', async () => {
    const url = await makeDatabase();
    const copy = await copyMigrations();
    await migrate(url, copy);
    await query(url, `INSERT INTO projects (id, name, requests_per_minute) VALUES ('p', 'p', 1)`);
    await writeFile(path.join(copy, '9999_strict.sql'), 'ALTER TABLE projects ADD CHECK (requests_per_minute > 1)');
    await assert.rejects(migrate(url, copy), {
      name: 'MigrationError',
      message: /^migration 9999_strict brings a rule that rows .*requests_per_minute_check.*"engraft ledger verify"/,
    });
  });

  it('writes nothing when nothing is missing, so that a user with no rights but to read the record will do', async () => {
    const url = await makeDatabase();
    const copy = await copyMigrations();
    await migrate(url, copy);
    const reader = `reader_${randomBytes(4).toString('hex')}`;
    await query(url, `CREATE ROLE ${reader} LOGIN PASSWORD 'x'; GRANT SELECT ON schema_migrations TO ${reader}`);
    const readerUrl = new URL(url);
    [readerUrl.username, readerUrl.password] = [reader, 'x'];
    assert.deepEqual(await migrate(readerUrl.href, copy), []);
    await writeFile(path.join(copy, '9999_future.sql'), 'CREATE TABLE future ()');
    await assert.rejects(migrate(readerUrl.href, copy), {
      name: 'MigrationError',
      message:
        /^migration 9999_future is missing, .*permission denied.* with the URL of the owner of the tables first$/,
    });
  });

  it('applies each file once when many processes start together', async () => {
    const url = await makeDatabase();
    const all = await Promise.all(Array.from({ length: 6 }, () => migrate(url)));
    assert.equal(all.filter((applied) => applied.length > 0).length, 1);
  });

  it('refuses a file that was altered after it was applied', async () => {
    const url = await makeDatabase();
    const copy = await copyMigrations();
    await migrate(url, copy);
    await appendFile(path.join(copy, '0001_initial.sql'), '\n-- an afterthought\n');
    await assert.rejects(migrate(url, copy), { name: 'MigrationError', message: /0001_initial was altered/ });
  });

  it('refuses a database that is newer than the service', async () => {
    const url = await makeDatabase();
    const copy = await copyMigrations();
    await writeFile(path.join(copy, '9999_future.sql'), 'CREATE TABLE future ()');
    await migrate(url, copy);
    await assert.rejects(migrate(url), { name: 'MigrationError', message: /9999_future, which this version/ });
  });

  it('leaves no trace of an upgrade that fails, so that the release before it goes on', async () => {
    const url = await makeDatabase();
    await migrate(url);
    const copy = await copyMigrations();
    await writeFile(path.join(copy, '9998_good.sql'), 'CREATE TABLE good ()');
    await writeFile(path.join(copy, '9999_broken.sql'), 'CREATE TABLE half (); SELECT 1/0;');
    await assert.rejects(migrate(url, copy), { code: '22012' });
    assert.deepEqual(await query(url, `SELECT to_regclass('good') AS good, to_regclass('half') AS half`), [
      { good: null, half: null },
    ]);
    assert.deepEqual(await migrate(url), []);
    await rm(path.join(copy, '9999_broken.sql'));
    assert.deepEqual(await migrate(url, copy), ['9998_good']);
  });

  it('leaves no trace in a database of somebody else', async () => {
    const url = await makeDatabase();
    await query(url, 'CREATE TABLE jobs ()');
    await assert.rejects(migrate(url), /already exists/);
    assert.deepEqual(await query(url, `SELECT to_regclass('schema_migrations') AS ours`), [{ ours: null }]);
  });
});
