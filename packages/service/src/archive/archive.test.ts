import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { recordLeftAdapter } from '../adapterStore/keptAdapters.js';
import { eraseTenant } from '../erasure/eraseTenant.js';
import { grantCredit } from '../ledger/grantCredit.js';
import { refundJob } from '../ledger/refund.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { makeOldJob, monthAgo, type OldJob } from '../testing/oldJob.js';
import { createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion } from '../testing/testVersion.js';
import { archiveEndedJobs } from './archiveEndedJobs.js';
import { listArchives } from './listArchives.js';
import { verifyArchives } from './verifyArchives.js';

const cheap = { reserved_microusd: 100, charged_microusd: 60 } as const;

describe('the archive', () => {
  let database: TestDatabase;
  let folder: string;
  let key: TestKey;
  before(async () => {
    database = await openTestDatabase();
  });
  after(() => database.close());
  afterEach(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-archive-'));
    key = await createTestKey(database.db, await createTestProject(database.db, 10_000));
  });

  const archive = (options: { jobsPerFile?: number } = {}): Promise<number> =>
    archiveEndedJobs(database.db, { folder, afterMonths: 3, ...options });
  const old = (job: Partial<OldJob> = {}) => makeOldJob(database.db, key, { endedMonthsAgo: 4, ...cheap, ...job });
  const isThere = async (id: string): Promise<boolean> =>
    (await database.db.selectFrom('jobs').select('id').where('id', '=', id).execute()).length === 1;
  const lastFile = async (): Promise<string> => (await listArchives(database.db)).at(-1)?.file ?? '';
  const linesIn = async (file: string): Promise<string[]> =>
    gunzipSync(await readFile(path.join(folder, file)))
      .toString()
      .trim()
      .split('\n');
  const assertLedgerHolds = async () => assert.deepEqual((await verifyLedger(database.db)).differences, []);

  it('takes jobs of closed months with their transfers out of the tables, and writes them down', async () => {
    const id = await old({ kind: 'internalization', refund: { monthsAgo: 3, amount_microusd: 10 } });
    assert.equal(await archive(), 0, 'the month of the refund closed only two months ago');
    const other = await old();
    assert.equal(await archive(), 1);
    assert.deepEqual([await isThere(id), await isThere(other)], [true, false]);
    const [line = '', ...more] = await linesIn(await lastFile());
    assert.deepEqual(more, []);
    const job = JSON.parse(line) as Record<string, unknown> & { transfers: Record<string, unknown>[] };
    assert.equal(job['id'], other);
    assert.equal(job['charged_microusd'], 60);
    assert.deepEqual(
      job.transfers.map(({ kind, from_account, to_account, amount_microusd }) => [
        kind,
        from_account,
        to_account,
        amount_microusd,
      ]),
      [
        ['reserve', `available:${key.project_id}`, `reserved:${key.project_id}`, 100],
        ['post', `reserved:${key.project_id}`, `spent:${key.project_id}`, 60],
        ['void', `reserved:${key.project_id}`, `available:${key.project_id}`, 40],
      ],
    );
    assert.match(await lastFile(), new RegExp(`^${monthAgo(4)}/`));
    await assertLedgerHolds();
  });

  it('leaves jobs that can be read, ended too late, or have a version or a kept adapter', async () => {
    const rich = await createTestKey(database.db, await createTestProject(database.db));
    const version = await createTestVersion(database.db, rich);
    await sql`update jobs set updated_at = now() - interval '200 days', forgotten_at = now()
      where id = ${version.job_id}`.execute(database.owner);
    const kept = await old();
    await recordLeftAdapter(database.db, kept, `sha256:${'a'.repeat(64)}`);
    const staying = [await old({ isReadable: true }), await old({ endedMonthsAgo: 2 }), kept, version.job_id];
    const going = await old({ endedMonthsAgo: 3, admittedMonthsAgo: 5 });
    // The end of that month was three months ago only if it ended four months ago.
    assert.equal(await archive(), 0);
    const older = await old({ endedMonthsAgo: 5 });
    assert.equal(await archive(), 1);
    for (const id of [...staying, going]) assert.ok(await isThere(id), id);
    assert.equal(await isThere(older), false);
    await database.db.deleteFrom('kept_adapters').where('job_id', '=', kept).execute();
    assert.equal(await archive(), 1);
    assert.equal(await isThere(kept), false);
    await recordLeftAdapter(database.db, kept, `sha256:${'a'.repeat(64)}`);
    const { job_id } = await database.db.selectFrom('kept_adapters').select('job_id').executeTakeFirstOrThrow();
    assert.equal(job_id, null, 'a worker that comes late records its copy all the same');
    await database.db.deleteFrom('kept_adapters').execute();
    await assertLedgerHolds();
  });

  it('writes a file for each month and slice, and no name of a tenant or subject', async () => {
    for (const endedMonthsAgo of [4, 4, 4, 6]) await old({ endedMonthsAgo });
    const before = (await listArchives(database.db)).length;
    assert.equal(await archive({ jobsPerFile: 2 }), 4);
    const written = (await listArchives(database.db)).slice(before);
    assert.deepEqual(
      written.map(({ month, jobs, transfers, amount_microusd }) => [month, jobs, transfers, amount_microusd]),
      [
        [monthAgo(6), 1, 3, 200],
        [monthAgo(4), 2, 6, 400],
        [monthAgo(4), 1, 3, 200],
      ],
    );
    for (const { file } of written) assert.doesNotMatch((await linesIn(file)).join(), /northwind|hannelore/);
    assert.equal((await readdir(folder, { recursive: true, withFileTypes: true })).filter((e) => e.isFile()).length, 3);
    const operator = { actor: 'Anna', account: 'anna@here', reason: 'asked for it' };
    const tenant = { project_id: key.project_id, tenant_id: 'northwind' };
    assert.deepEqual(await eraseTenant(database.db, operator, tenant), { kind: 'not_found' }, 'nothing has its name');
  });

  it('moves nothing while the clock is not steady', async () => {
    const id = await old();
    await sql`update clock set leapt_at = now()`.execute(database.db);
    assert.equal(await archive(), 0);
    await sql`update clock set leapt_at = null`.execute(database.db);
    assert.equal(await archive(), 1);
    assert.equal(await isThere(id), false);
  });

  it('is written by one worker at a time, and each job once', async () => {
    for (let count = 0; count < 9; count += 1) await old();
    const before = (await listArchives(database.db)).length;
    const moved = await Promise.all([
      archive({ jobsPerFile: 2 }),
      archive({ jobsPerFile: 2 }),
      archive({ jobsPerFile: 2 }),
    ]);
    const rest = await archive({ jobsPerFile: 2 });
    assert.equal(
      moved.reduce((sum, jobs) => sum + jobs, rest),
      9,
    );
    const written = (await listArchives(database.db)).slice(before);
    const lines = (await Promise.all(written.map(({ file }) => linesIn(file)))).flat();
    const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id);
    assert.deepEqual([ids.length, new Set(ids).size], [9, 9]);
    await assertLedgerHolds();
  });

  it('lets a refund of a job either come first, or find nothing', async () => {
    const ids = [];
    for (let count = 0; count < 6; count += 1) ids.push(await old());
    const refunds = ids.map((id) => refundJob(database.db, { job_id: id, memo: 'sorry' }));
    // A refund between the choice of the jobs and their removal makes the round fail, and the next one does it.
    const refusal = await archive({ jobsPerFile: 1 }).catch((error: unknown) => String(error));
    if (typeof refusal === 'string') assert.match(refusal, /has a transfer of a month that is not closed/);
    const outcomes = await Promise.all(refunds);
    await archive();
    for (const [index, { kind }] of outcomes.entries()) {
      assert.equal(await isThere(ids[index] ?? ''), kind === 'refunded');
      assert.ok(kind === 'refunded' || kind === 'not_found', kind);
    }
    await assertLedgerHolds();
  });
});

describe('verifyArchives', () => {
  let database: TestDatabase;
  let folder: string;
  before(async () => {
    database = await openTestDatabase({ maxConnections: 2 });
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-archive-'));
    const key = await createTestKey(database.db, await createTestProject(database.db, 10_000));
    const learning = { ...cheap, kind: 'internalization' } as const;
    await makeOldJob(database.db, key, { endedMonthsAgo: 4, admittedMonthsAgo: 5, ...learning });
    await makeOldJob(database.db, key, { endedMonthsAgo: 6, ...cheap });
    await grantCredit(database.db, { project_id: key.project_id, amount_microusd: 5, memo: 'test' });
    await archiveEndedJobs(database.db, { folder, afterMonths: 3 });
  });
  after(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });

  const differencesWith = async (damage: (file: string, content: Buffer) => Promise<unknown>): Promise<string> => {
    const [first] = await listArchives(database.db);
    const file = path.join(folder, first?.file ?? '');
    const content = await readFile(file);
    await damage(file, content);
    const { ok, differences } = await verifyArchives(database.db, folder);
    await writeFile(file, content);
    assert.equal(ok, differences.length === 0);
    return differences.join('\n');
  };

  it('finds files as they were written, and sums that they explain', async () => {
    assert.deepEqual(await verifyArchives(database.db, folder), { ok: true, files: 2, jobs: 2, differences: [] });
  });

  it('finds a file that is gone, cut, changed or of other jobs', async () => {
    assert.match(await differencesWith((file) => rm(file)), /cannot be read: ENOENT/);
    assert.match(await differencesWith((file, content) => writeFile(file, content.subarray(0, -9))), /cannot be read/);
    const rewritten = (change: (text: string) => string) => (file: string, content: Buffer) =>
      writeFile(file, gzipSync(change(gunzipSync(content).toString())));
    assert.match(await differencesWith(rewritten((text) => text.replace('"test"', '"rest"'))), /has other bytes/);
    assert.match(await differencesWith(rewritten(() => '')), /has other bytes/);
  });

  it('finds sums that the files do not explain', async () => {
    const changeSum = (byMicrousd: number) =>
      sql`update archived_sums set sent_microusd = sent_microusd + ${byMicrousd} where account_id like 'reserved:%'`;
    await database.owner.connection().execute(async (owner) => {
      await sql`set session_replication_role = replica`.execute(owner);
      await changeSum(1).execute(owner);
      const { differences } = await verifyArchives(database.db, folder);
      assert.match(differences.join('\n'), /account reserved:.* sent 101 .*; the files have 100, 100 and 0/);
      const ledger = (await verifyLedger(database.db)).differences.join('\n');
      assert.match(ledger, /account reserved:.* kept -\d micro-USD of archived jobs/);
      assert.match(ledger, /the archives hold 400 micro-USD; of accounts, 400 were received and 40\d sent/);
      await changeSum(-1).execute(owner);
      await sql`set session_replication_role = origin`.execute(owner);
    });
    assert.deepEqual((await verifyLedger(database.db)).differences, []);
  });
});
