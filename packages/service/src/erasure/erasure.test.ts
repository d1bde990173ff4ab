import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { listAuditEvents } from '../audit/listAuditEvents.js';
import { thisOperator } from '../audit/operator.js';
import { openFolderStore } from '../adapterStore/folderStore.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { readBalance } from '../ledger/accounts.js';
import { deleteUnneededFiles } from '../retention/deleteUnneededFiles.js';
import { readJobRow } from '../testing/readJobRow.js';
import { buildTestApp, call, createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning, createTestVersion } from '../testing/testVersion.js';
import { eraseSubject } from './eraseSubject.js';
import { eraseTenant } from './eraseTenant.js';

const operator = thisOperator({ by: 'Anna', reason: 'the customer asked for it' });

describe('erasure', () => {
  let database: TestDatabase;
  before(async () => {
    database = await openTestDatabase();
  });
  after(async () => {
    assert.deepEqual((await verifyLedger(database.db)).differences, []);
    await database.close();
  });

  /** Every row of the tables that hold what callers sent, as text. */
  async function everything(): Promise<string> {
    const tables = ['jobs', 'subjects', 'versions', 'api_keys', 'job_phases', 'teacher_calls', 'idempotency_keys'];
    const texts = [];
    for (const table of tables) {
      const { rows } = await sql<{
        row: string;
      }>`select row_to_json(t)::text as row from ${sql.table(table)} t`.execute(database.db);
      texts.push(...rows.map(({ row }) => row));
    }
    return texts.join('\n');
  }

  /** A subject with a version, an answer and a job that waits, all of which hold the subject's name. */
  async function teach(key: TestKey, subjectId: string, tenantId: string | null): Promise<{ version_id: string }> {
    const { id, job_id } = await createTestVersion(database.db, key, { subject_id: subjectId, tenant_id: tenantId });
    const rehearsal = JSON.stringify({ training_pairs: [{ question: `Who is ${subjectId}?`, answer: 'x' }] });
    await database.db.updateTable('versions').set({ rehearsal }).where('id', '=', id).execute();
    await database.db
      .updateTable('jobs')
      .set({ result: JSON.stringify({ rejection: { message: `Not learned: ${subjectId}` } }) })
      .where('id', '=', job_id)
      .execute();
    await admitTestLearning(database.db, key, { subject_id: subjectId, tenant_id: tenantId });
    return { version_id: id };
  }

  it('of a subject leaves nothing of it but what it cost, and no other subject is touched', async () => {
    const { db } = database;
    const key = await createTestKey(db, await createTestProject(db));
    const { project_id } = key;
    const { version_id } = await teach(key, 'hannelore', null);
    await teach(key, 'bertrand', null);
    const { spent_microusd } = await readBalance(db, project_id);
    const subject = { project_id, tenant_id: null, name: 'hannelore' };
    const outcome = await eraseSubject(db, operator, subject);
    assert.ok(outcome.kind === 'erased');
    assert.deepEqual(outcome.erased, { subjects: 1, versions: 1, jobs: 2 });
    const left = await everything();
    assert.doesNotMatch(left, /hannelore/);
    assert.match(left, /bertrand/);
    const balance = await readBalance(db, project_id);
    assert.deepEqual([balance.spent_microusd, balance.reserved_microusd], [spent_microusd, 1_000_000]);

    const { app } = buildTestApp(db);
    const subjects = (await call(app, 'GET', '/v1/subjects', { key })).json<{ data: { id: string }[] }>();
    assert.deepEqual(subjects.data.map(({ id }) => id), ['bertrand']); // prettier-ignore
    const activation = { version_id, expected_version_id: null };
    assert.equal((await call(app, 'POST', '/v1/adapters/activate', { key, body: activation })).statusCode, 404);
    assert.equal((await call(app, 'GET', '/v1/jobs', { key })).json<{ data: unknown[] }>().data.length, 2);
    await app.close();

    const [erased, cancelled] = await listAuditEvents(db, { project_id, limit: 10 });
    assert.deepEqual(
      [erased?.action, erased?.actor, erased?.reason, erased?.target],
      ['subject.erase', 'Anna', 'the customer asked for it', outcome.subject_ref],
    );
    assert.deepEqual(erased?.details, { tenant_id: null, subject_id: 'hannelore', subjects: 1, versions: 1, jobs: 2 });
    assert.equal(cancelled?.action, 'job.cancel');
    assert.deepEqual(await eraseSubject(db, operator, subject), { kind: 'not_found' });
    // The name may begin anew.
    await createTestVersion(db, key, { subject_id: 'hannelore' });
  });

  it('of a tenant takes its subjects, jobs, name and keys, and none of the same name elsewhere', async () => {
    const { db } = database;
    const key = await createTestKey(db, await createTestProject(db));
    const elsewhere = await createTestKey(db, await createTestProject(db));
    const { project_id } = key;
    await createTestKey(db, project_id, { tenant_id: 'northwind' });
    await teach(key, 'wilhelmina', 'northwind');
    await teach(key, 'ottokar', null);
    await teach(elsewhere, 'leopold', 'northwind');
    const tenant = { project_id, tenant_id: 'northwind' };
    const outcome = await eraseTenant(db, operator, tenant);
    assert.deepEqual(outcome, { kind: 'erased', erased: { subjects: 1, versions: 1, jobs: 2, keys: 1 } });
    const left = await everything();
    assert.doesNotMatch(left, /wilhelmina/);
    for (const other of [/ottokar/, /leopold/]) assert.match(left, other);
    for (const table of ['jobs', 'subjects', 'api_keys', 'idempotency_keys'] as const) {
      const rows = await db
        .selectFrom(table)
        .select('tenant_id')
        .where('project_id', '=', project_id)
        .where('tenant_id', '=', 'northwind')
        .execute();
      assert.deepEqual(rows, [], table);
    }
    assert.deepEqual(await eraseTenant(db, operator, tenant), { kind: 'not_found' });
    assert.equal((await eraseTenant(db, operator, { ...tenant, project_id: elsewhere.project_id })).kind, 'erased');
  });

  it('deletes the files without delay, unless another version has the same', async () => {
    const { db } = database;
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-erasure-'));
    const store = await openFolderStore(folder);
    const key = await createTestKey(db, await createTestProject(db));
    const adapterHash = `sha256:${'e'.repeat(64)}`;
    for (const subjectId of ['one', 'two']) {
      const { id } = await createTestVersion(db, key, { subject_id: subjectId });
      await db.updateTable('versions').set({ adapter_hash: adapterHash }).where('id', '=', id).execute();
    }
    await mkdir(store.locate(adapterHash).folder);
    for (const [name, remains] of [
      ['one', true],
      ['two', false],
    ] as const) {
      // prettier-ignore
      await eraseSubject(db, operator, { project_id: key.project_id, tenant_id: null, name });
      await deleteUnneededFiles(db, store);
      assert.equal(await store.has(adapterHash), remains);
    }
    await rm(folder, { recursive: true });
  });

  it('leaves nothing behind of requests that come at the same moment', async () => {
    const { db } = database;
    const key = await createTestKey(db, await createTestProject(db));
    const { project_id } = key;
    await createTestVersion(db, key, { subject_id: 'racer' });
    const name = 'racer';
    await Promise.all([
      ...Array.from({ length: 6 }, () => admitTestLearning(db, key, { subject_id: name })),
      eraseSubject(db, operator, { project_id, tenant_id: null, name }),
    ]);
    const { rows } = await sql`select from jobs join subjects on subjects.id = jobs.subject_ref
      where erased_at is not null and subject_name = 'racer'`.execute(db);
    assert.equal(rows.length, 0);
  });

  it('of a tenant takes nothing of requests that come after it has begun, which are erased another time', async () => {
    const { db } = database;
    const key = await createTestKey(db, await createTestProject(db));
    const tenant = { project_id: key.project_id, tenant_id: 'southwind' };
    const { id } = await createTestVersion(db, key, { tenant_id: tenant.tenant_id });
    // Somebody holds a version, so that the erasure stops in its midst.
    const { erasing, admitting } = await db.transaction().execute(async (trx) => {
      await sql`select from versions where id = ${id} for update`.execute(trx);
      const erasing = eraseTenant(db, operator, tenant);
      await untilWaiting(1);
      const admitting = admitTestLearning(db, key, { subject_id: 'annelie', tenant_id: tenant.tenant_id });
      await Promise.race([admitting, untilWaiting(2)]);
      return { erasing, admitting };
    });
    assert.equal((await erasing).kind, 'erased');
    const { status, tenant_id, subject_name } = await readJobRow(db, await admitting);
    assert.deepEqual([status, tenant_id, subject_name], ['queued', 'southwind', 'annelie']);
    assert.equal((await eraseTenant(db, operator, tenant)).kind, 'erased');
    assert.doesNotMatch(await everything(), /southwind|annelie/);
  });

  /** Until as many sessions wait for locks of others. */
  async function untilWaiting(count: number): Promise<void> {
    const { rows } = await sql<{ waiting: number }>`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(database.owner);
    if ((rows[0]?.waiting ?? 0) >= count) return;
    await sleep(10);
    await untilWaiting(count);
  }
});
