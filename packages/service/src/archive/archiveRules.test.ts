import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { makeOldJob, monthAgo, type OldJob } from '../testing/oldJob.js';
import { createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning, createTestVersion } from '../testing/testVersion.js';
import { listArchives } from './listArchives.js';

describe('the database, whoever archives', () => {
  let database: TestDatabase;
  let key: TestKey;
  let archiveId: number;
  before(async () => {
    database = await openTestDatabase();
    key = await createTestKey(database.db, await createTestProject(database.db));
    archiveId = await begin(monthAgo(4));
  });
  after(async () => {
    assert.deepEqual((await verifyLedger(database.db)).differences, []);
    await database.close();
  });

  const old = (job: Partial<OldJob> = {}) =>
    makeOldJob(database.db, key, { endedMonthsAgo: 4, reserved_microusd: 100, charged_microusd: 60, ...job });

  async function begin(month: string): Promise<number> {
    const { rows } = await sql<{ id: number }>`insert into archives (month, file)
      values (${`${month}-01`}, ${`${month}/${Math.random().toString(36).slice(2)}.jsonl.gz`}) returning id`.execute(
      database.db,
    );
    return rows[0]?.id ?? 0;
  }

  const archiveJobs = (jobIds: readonly string[], { transfers = 3, archive = archiveId, db = database.db } = {}) =>
    sql`select archive_jobs(${archive}::bigint, ${jobIds}::text[], ${transfers}::bigint, 1::bigint,
      ${Buffer.alloc(32)}::bytea)`.execute(db);

  it('takes a job and its transfers away in one way only', async () => {
    const id = await old();
    const isDenied = /permission denied/;
    for (const [statement, refusal] of [
      [`delete from transfers where job_id = '${id}'`, [isDenied, /transfers are immutable/]],
      [`update transfers set amount_microusd = 1`, [isDenied, /transfers are immutable/]],
      [`delete from jobs where id = '${id}'`, [isDenied, /violates foreign key/]],
      [`update archives set moved_at = now()`, [isDenied, /recorded by archive_jobs only/]],
      [`truncate archives`, [isDenied, /archives are never deleted/]],
      [`insert into archived_sums values ('issued', '2026-01-01', 1, 1, 0)`, [isDenied, /by archive_jobs only/]],
      [`update archived_sums set sent_microusd = 1`, [isDenied, /by archive_jobs only/]],
      [`delete from archived_sums`, [isDenied, /never deleted/]],
    ] as const) {
      const run = (db: Kysely<Database>) => sql.raw(statement).execute(db);
      await assert.rejects(run(database.db), refusal[0], statement);
      await assert.rejects(run(database.owner), refusal[1], statement);
    }
    // Whoever has no right to delete does not get it by the function's own mark.
    await database.db.connection().execute(async (db) => {
      await sql`set engraft.archiving = 'on'`.execute(db);
      for (const table of ['transfers', 'jobs', 'archives', 'archived_sums']) {
        await assert.rejects(sql`delete from ${sql.table(table)}`.execute(db), isDenied);
      }
      await sql`reset engraft.archiving`.execute(db);
    });
  });

  it('lets the service run the function, and nobody else but its owner', async () => {
    const { rows } = await sql<{ name: string; grantee: string }>`
      select proname as name, case grantee when 0 then 'everybody' else pg_get_userbyid(grantee) end as grantee
      from pg_proc, aclexplode(proacl)
      where proname in ('archive_jobs', 'why_not_archived') and grantee <> proowner`.execute(database.owner);
    assert.deepEqual(rows, [{ name: 'archive_jobs', grantee: 'engraft_service' }]);
  });

  it('refuses jobs that must stay, and then changes nothing', async () => {
    const open = await admitTestLearning(database.db, key);
    const refused: readonly (readonly [string, RegExp])[] = [
      [open, /is not settled/],
      [await old({ isReadable: true }), /can still be read/],
      [await old({ endedMonthsAgo: 0 }), /ended in a month that is not closed/],
      [await old({ endedMonthsAgo: 5 }), /ended in another month/],
      [await old({ refund: { monthsAgo: 0, amount_microusd: 1 } }), /has a transfer of a month that is not closed/],
      [await disagreeing(), /does not agree with its transfers/],
      [await learned(), /violates foreign key constraint "versions_source_job_id_fkey"/],
      [await keptWithAdapter(), /violates foreign key constraint "kept_adapters_job_id_fkey"/],
      ['job_none', /job_none is not there/],
    ];
    const good = await old();
    const before = await countRows();
    for (const [id, refusal] of refused) await assert.rejects(archiveJobs([good, id], { transfers: 6 }), refusal);
    await assert.rejects(archiveJobs([good], { transfers: 2 }), /have 3 transfers, and 2 are in the file/);
    await assert.rejects(archiveJobs([good], { archive: 999 }), /archive 999 is not begun/);
    assert.deepEqual(await countRows(), before);
    await archiveJobs([good]);
    await assert.rejects(archiveJobs([await old()]), /is not begun, or has its jobs/);
    await assert.rejects(sql`delete from archives`.execute(database.owner), /archives are never deleted/);
    const [written, ...others] = await listArchives(database.db);
    assert.deepEqual(others, []);
    assert.deepEqual([written?.jobs, written?.transfers, written?.amount_microusd], [1, 3, 200]);
    await mend();
  });

  it('takes no temporary table for one of its own', async () => {
    const id = await old();
    const archive = await begin(monthAgo(4));
    await database.db.connection().execute(async (db) => {
      await sql`create temporary table transfers as select * from public.transfers where false`.execute(db);
      await archiveJobs([id], { archive, db });
      await sql`drop table pg_temp.transfers`.execute(db);
    });
    const left = await database.db.selectFrom('transfers').select('id').where('job_id', '=', id).execute();
    assert.deepEqual(left, []);
  });

  const damaged: string[] = [];

  /** A job whose charge its transfers do not explain, which only somebody can make who lifts the rules. */
  async function disagreeing(): Promise<string> {
    const id = await old();
    damaged.push(id);
    await withoutRules(sql`update jobs set compute_microusd = 59 where id = ${id}`);
    return id;
  }

  async function mend(): Promise<void> {
    await withoutRules(sql`update jobs set compute_microusd = 60 where id = any(${damaged})`);
  }

  async function withoutRules(statement: ReturnType<typeof sql>): Promise<void> {
    await database.owner.connection().execute(async (owner) => {
      await sql`set session_replication_role = replica`.execute(owner);
      await statement.execute(owner);
      await sql`reset session_replication_role`.execute(owner);
    });
  }

  async function keptWithAdapter(): Promise<string> {
    const id = await old();
    const kept = { adapter_hash: `sha256:${'c'.repeat(64)}`, job_id: id };
    await database.db.insertInto('kept_adapters').values(kept).execute();
    return id;
  }

  async function learned(): Promise<string> {
    const { id: versionId } = await createTestVersion(database.db, key);
    const id = await old();
    await sql`insert into versions (id, source_job_id, subject_ref, adapter_hash, size_bytes, passed_count, total_count,
        rehearsal, expires_at)
      select 'ver_old', ${id}, subject_ref, adapter_hash, size_bytes, passed_count, total_count, rehearsal, expires_at
      from versions where id = ${versionId}`.execute(database.db);
    return id;
  }

  async function countRows() {
    const { rows } =
      await sql`select (select count(*) from jobs) as jobs, (select count(*) from transfers) as transfers,
      (select count(*) from archived_sums) as sums,
      (select count(*) from archives where moved_at is not null) as archives`.execute(database.db);
    return rows;
  }
});
