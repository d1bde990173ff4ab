import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { currentPriceCard, storageChargeMicrousd } from '@engraft/contract';
import { sql } from 'kysely';
import { type FolderStore, openFolderStore } from '../adapterStore/folderStore.js';
import { recordKeptAdapter, recordLeftAdapter } from '../adapterStore/keptAdapters.js';
import { listWorkFolders, openWorkFolder } from '../adapterStore/workFolder.js';
import { claimJob } from '../jobs/claimJob.js';
import { failJob } from '../jobs/failJob.js';
import { readBalance } from '../ledger/accounts.js';
import { grantCredit } from '../ledger/grantCredit.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning, createTestVersion } from '../testing/testVersion.js';
import { activateInNamespace } from '../versions/activateInNamespace.js';
import { markAdapterDamaged, markAdapterIntact } from '../versions/adapterDamage.js';
import { expireVersion } from '../versions/expireVersion.js';
import { findAdapter } from '../worker/findAdapter.js';
import { deleteUnneededFiles } from './deleteUnneededFiles.js';
import { removeEndedWork } from './removeEndedWork.js';
import { renewHosting } from './renewHosting.js';

const sizeBytes = 50_000_000;
/** No model is of importance where nobody recorded one. */
const anyModel = () => Promise.resolve('sha256:0');
const dayMicrousd = storageChargeMicrousd(sizeBytes, 86_400, currentPriceCard);

describe('retention', () => {
  let database: TestDatabase;
  let folder: string;
  let store: FolderStore;
  let hashes = 0;
  before(async () => {
    database = await openTestDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-retention-'));
    store = await openFolderStore(folder);
  });
  after(async () => {
    assert.deepEqual((await verifyLedger(database.db)).differences, []);
    await database.close();
    await rm(folder, { recursive: true });
  });

  /** A version of a project of its own, `age` ago, with the deadline `left` from now (PostgreSQL intervals). */
  async function makeVersion(
    times: { age: string; left: string },
    { activate = false, credit_microusd = 100_000_000 } = {},
  ) {
    const projectId = await createTestProject(database.db, credit_microusd);
    const key = await createTestKey(database.db, projectId);
    const { id, job_id } = await createTestVersion(database.db, key, { activate });
    hashes += 1;
    const adapterHash = `sha256:${hashes.toString(16).padStart(64, '0')}`;
    await database.db
      .updateTable('versions')
      .set({
        adapter_hash: adapterHash,
        size_bytes: sizeBytes,
        created_at: sql`now() - ${times.age}::interval`,
        expires_at: sql<Date>`now() + ${times.left}::interval`,
      })
      .where('id', '=', id)
      .execute();
    await database.db.insertInto('kept_adapters').values({ adapter_hash: adapterHash, job_id }).execute();
    return { id, project_id: projectId, adapter_hash: adapterHash, job_id };
  }
  const available = async (projectId: string): Promise<number> =>
    (await readBalance(database.db, projectId)).available_microusd;
  const retentionEnded = async (id: string): Promise<boolean> => {
    const version = await database.db
      .selectFrom('versions')
      .select('retention_ended_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return version.retention_ended_at !== null;
  };
  const endedAtDeadline = async (id: string): Promise<void> => {
    await database.db
      .updateTable('versions')
      .set((eb) => ({ retention_ended_at: eb.ref('expires_at') }))
      .where('id', '=', id)
      .execute();
  };
  const recordsOf = async (adapterHash: string): Promise<number> => {
    const kept = database.db.selectFrom('kept_adapters').select('job_id').where('adapter_hash', '=', adapterHash);
    return (await kept.execute()).length;
  };
  const makeFiles = async (adapterHash: string): Promise<void> => {
    const { folder: where } = store.locate(adapterHash);
    await mkdir(where);
    await writeFile(path.join(where, 'adapter_config.json'), '{}');
  };
  const hoursLeft = async (id: string): Promise<number> => {
    const { hours } = await database.db
      .selectFrom('versions')
      .select(sql<number>`round(extract(epoch from expires_at - now()) / 3600)::float8`.as('hours'))
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return hours;
  };

  it('charges a day in advance and moves the deadline on by that day, once', async () => {
    const { id, project_id } = await makeVersion({ age: '23.5 hours', left: '30 minutes' });
    const beforeMicrousd = await available(project_id);
    const rounds = await Promise.all([renewHosting(database.db), renewHosting(database.db), renewHosting(database.db)]);
    assert.equal(
      rounds.reduce((sum, renewed) => sum + renewed),
      1,
    );
    assert.ok([24, 25].includes(await hoursLeft(id)));
    assert.equal(beforeMicrousd - (await available(project_id)), dayMicrousd);
  });

  it('leaves a version alone whose deadline is far', async () => {
    await makeVersion({ age: '1 hour', left: '23 hours' });
    assert.equal(await renewHosting(database.db), 0);
  });

  it('makes good a deadline that passed while nobody was there, by whole days, charged once', async () => {
    const { id, project_id } = await makeVersion({ age: '4.5 days', left: '-60 hours' });
    const beforeMicrousd = await available(project_id);
    const rounds = await Promise.all([renewHosting(database.db), renewHosting(database.db), renewHosting(database.db)]);
    assert.equal(
      rounds.reduce((sum, renewed) => sum + renewed),
      1,
    );
    assert.equal(await hoursLeft(id), 12);
    assert.equal(beforeMicrousd - (await available(project_id)), 3 * dayMicrousd);
    assert.equal(await renewHosting(database.db), 0);
  });

  it('never renews a version that an operator ended', async () => {
    const { id, project_id } = await makeVersion({ age: '1 hour', left: '23 hours' }, { activate: true });
    const beforeMicrousd = await available(project_id);
    await expireVersion(database.db, id);
    assert.equal(await renewHosting(database.db), 0);
    assert.equal(await available(project_id), beforeMicrousd);
  });

  it('charges nothing for a deadline that the balance cannot make good, and credit that comes later changes nothing', async () => {
    const { id, project_id } = await makeVersion(
      { age: '4.5 days', left: '-60 hours' },
      { activate: true, credit_microusd: 1_000_000 + 3 * dayMicrousd - 1 },
    );
    assert.equal(await renewHosting(database.db), 0);
    assert.equal(await available(project_id), 3 * dayMicrousd - 1);
    assert.ok(await retentionEnded(id));
    await grantCredit(database.db, { project_id, amount_microusd: 1_000_000, memo: 'late' });
    assert.equal(await renewHosting(database.db), 0);
    assert.equal(await hoursLeft(id), -60);
  });

  it('charges nothing for a deadline whose project would have let the version expire meanwhile', async () => {
    const { id, project_id } = await makeVersion({ age: '31 days', left: '-60 hours' });
    const beforeMicrousd = await available(project_id);
    assert.equal(await renewHosting(database.db), 0);
    assert.equal(await available(project_id), beforeMicrousd);
    assert.ok(await retentionEnded(id));
  });

  it('lets a version expire after the retention of its project, unless it is active', async () => {
    const old = await makeVersion({ age: '30 days', left: '50 minutes' });
    const active = await makeVersion({ age: '30 days', left: '30 minutes' }, { activate: true });
    assert.equal(await renewHosting(database.db), 1);
    assert.equal(await hoursLeft(old.id), 1);
    assert.ok((await hoursLeft(active.id)) >= 24);
  });

  it('lets a version expire that its project cannot pay for', async () => {
    // A test version costs 1 USD.
    const { id, project_id } = await makeVersion(
      { age: '23.5 hours', left: '30 minutes' },
      { activate: true, credit_microusd: 1_000_000 + dayMicrousd - 1 },
    );
    assert.equal(await renewHosting(database.db), 0);
    // Until the deadline there is time to pay.
    assert.ok(!(await retentionEnded(id)));
    await grantCredit(database.db, { project_id, amount_microusd: 1, memo: 'in time' });
    assert.equal(await renewHosting(database.db), 1);
  });

  it('"an active version renews beyond it", from the moment on that it is active', async () => {
    const { id, project_id } = await makeVersion({ age: '40 days', left: '2 minutes' });
    assert.equal(await renewHosting(database.db), 0, 'past the retention of its project, and not in use');
    const activation = { project_id, tenant_id: null, version_id: id, expected_version_id: null };
    assert.equal((await activateInNamespace(database.db, activation)).kind, 'activated');
    assert.equal(await hoursLeft(id), 24, 'before a round that may come too late');
  });

  it('leaves a version undecided for a day while jobs hold the money for it', async () => {
    const creditMicrousd = 2_000_000; // one for the job that made the version, one for the job that waits
    const { id, project_id } = await makeVersion(
      { age: '26 hours', left: '-1 hour' },
      { activate: true, credit_microusd: creditMicrousd },
    );
    const key = await createTestKey(database.db, project_id);
    await admitTestLearning(database.db, key, { subject_id: 'another' });
    assert.equal(await available(project_id), 0);
    await renewHosting(database.db);
    assert.equal(await retentionEnded(id), false);
    const job = await claimJob(database.db, { kind: 'internalization', leaseMs: 60_000, worker_id: 'waiting' });
    if (job === null) throw new Error('no job to claim');
    await failJob(database.db, job, 'engine_failed');
    await renewHosting(database.db);
    assert.equal(await available(project_id), 1_000_000 - dayMicrousd);
  });

  it('renews the others when one version cannot be renewed', async () => {
    // The first in its turn.
    const broken = await makeVersion({ age: '1 day', left: '10 minutes' });
    const sound = await makeVersion({ age: '1 day', left: '20 minutes' });
    // A fault injector: the database refuses this one's new deadline.
    await sql`create function refuse_renewal() returns trigger language plpgsql as
      $$ begin raise exception 'refused on purpose'; end $$`.execute(database.owner);
    await sql`create trigger refuse_renewal before update on versions for each row
      when (old.id = ${sql.lit(broken.id)}) execute function refuse_renewal()`.execute(database.owner);
    const beforeMicrousd = await available(broken.project_id);
    await assert.rejects(renewHosting(database.db), AggregateError);
    await sql`drop trigger refuse_renewal on versions`.execute(database.owner);
    assert.ok((await hoursLeft(sound.id)) >= 24);
    // What it was charged went back with its deadline.
    assert.deepEqual([await hoursLeft(broken.id), await available(broken.project_id)], [0, beforeMicrousd]);
    assert.equal(await renewHosting(database.db), 1);
  });

  it('renews a version whose transaction has to be run again', async () => {
    const { id } = await makeVersion({ age: '1 days', left: '0 hours' });
    // A fault injector: the first of two attempts ends as a serialization failure. A sequence is never rolled back.
    await sql`create sequence renewals`.execute(database.owner);
    await sql`create function conflict_once() returns trigger language plpgsql security definer as $$ begin
      if nextval('renewals') = 1 then raise exception 'a conflict on purpose' using errcode = '40001'; end if;
      return new; end $$`.execute(database.owner);
    await sql`create trigger conflict_once before update on versions for each row
      when (old.id = ${sql.lit(id)}) execute function conflict_once()`.execute(database.owner);
    assert.equal(await renewHosting(database.db), 1);
    await sql`drop trigger conflict_once on versions`.execute(database.owner);
    assert.ok((await hoursLeft(id)) >= 23);
  });

  it('deletes the files of the others when those of one cannot be deleted', async () => {
    const versions = [
      await makeVersion({ age: '10 days', left: '-8 days' }),
      await makeVersion({ age: '10 days', left: '-8 days' }),
      await makeVersion({ age: '10 days', left: '-8 days' }),
    ];
    for (const { id, adapter_hash } of versions) {
      await endedAtDeadline(id);
      await makeFiles(adapter_hash);
    }
    // A fault injector: the first that is to be removed cannot be.
    let stuck: string | undefined;
    const remove = (adapterHash: string): Promise<boolean> => {
      stuck ??= adapterHash;
      return stuck === adapterHash ? Promise.reject(new Error('refused on purpose')) : store.remove(adapterHash);
    };
    await assert.rejects(deleteUnneededFiles(database.db, { ...store, remove }), AggregateError);
    const left = await Promise.all(versions.map(({ adapter_hash }) => store.has(adapter_hash)));
    assert.equal(left.filter((has) => has).length, 1);
    assert.equal(await deleteUnneededFiles(database.db, store), 1);
  });

  it('deletes the files a week after the deadline, and keeps the row', async () => {
    const [late, fresh, unlucky, stale, shared, sharing] = [
      // It is ended only now, by a round that came late, or by a clock that is wrong.
      await makeVersion({ age: '10 days', left: '-8 days' }),
      await makeVersion({ age: '10 days', left: '-6 days' }),
      // It expired while nobody was there, and no round has decided about it yet.
      await makeVersion({ age: '10 days', left: '-8 days' }),
      await makeVersion({ age: '10 days', left: '-8 days' }),
      await makeVersion({ age: '10 days', left: '-8 days' }),
      await makeVersion({ age: '1 days', left: '10 hours' }),
    ];
    await expireVersion(database.db, late.id);
    for (const { id } of [fresh, stale, shared]) await endedAtDeadline(id);
    await database.db
      .updateTable('versions')
      .set({ adapter_hash: shared.adapter_hash })
      .where('id', '=', sharing.id)
      .execute();
    await database.owner
      .updateTable('kept_adapters')
      .set({ adapter_hash: shared.adapter_hash })
      .where('job_id', '=', sharing.job_id)
      .execute();
    const all = [late, fresh, unlucky, stale, shared];
    for (const { adapter_hash } of all) await makeFiles(adapter_hash);
    const rounds = [deleteUnneededFiles(database.db, store), deleteUnneededFiles(database.db, store)];
    assert.deepEqual((await Promise.all(rounds)).sort(), [0, 1]);
    const kept = await Promise.all(all.map(({ adapter_hash }) => store.has(adapter_hash)));
    assert.deepEqual(kept, [true, true, true, false, true]);
    const row = await database.db
      .selectFrom('versions')
      .selectAll()
      .where('id', '=', stale.id)
      .executeTakeFirstOrThrow();
    assert.notEqual(row.files_deleted_at, null);
  });

  it('deletes what a job kept that then ended without a version, and not while it is open', async () => {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const open = { kind: 'internalization', leaseMs: 60_000 } as const;
    const jobId = await admitTestLearning(database.db, key);
    const job = await claimJob(database.db, { ...open, worker_id: 'saving' });
    assert.equal(job?.job_id, jobId);
    const adapterHash = `sha256:${'f'.repeat(64)}`;
    assert.equal(await recordKeptAdapter(database.db, job, adapterHash), 'done');
    await makeFiles(adapterHash);
    assert.equal(await deleteUnneededFiles(database.db, store), 0);
    assert.equal(await failJob(database.db, job, 'engine_failed'), 'done');
    assert.equal(await deleteUnneededFiles(database.db, store), 1);
    assert.equal(await store.has(adapterHash), false);
    assert.equal(await recordKeptAdapter(database.db, job, adapterHash), 'lost');
  });

  it('deletes what a worker keeps that has lost the job, whenever it comes to an end, and however it ends', async () => {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const jobId = await admitTestLearning(database.db, key);
    const job = await claimJob(database.db, { kind: 'internalization', leaseMs: 60_000, worker_id: 'slow' });
    assert.equal(job?.job_id, jobId);
    const adapterHash = `sha256:${'d'.repeat(64)}`;
    assert.equal(await recordKeptAdapter(database.db, job, adapterHash), 'done');
    // Meanwhile the job is ended, and a round looks at what it kept, which is nothing yet.
    assert.equal(await failJob(database.db, job, 'engine_failed'), 'done');
    assert.equal(await deleteUnneededFiles(database.db, store), 0);
    // The worker's copy is done, and the worker dies without a word.
    await makeFiles(adapterHash);
    assert.equal(await deleteUnneededFiles(database.db, store), 1);
    assert.equal(await store.has(adapterHash), false);
    // One that slept for a day is awake to tell.
    await database.db
      .updateTable('jobs')
      .set({ updated_at: sql<Date>`now() - interval '25 hours'` })
      .where('id', '=', jobId)
      .execute();
    assert.equal(await deleteUnneededFiles(database.db, store), 0);
    assert.equal(await recordsOf(adapterHash), 0);
    await makeFiles(adapterHash);
    await recordLeftAdapter(database.db, jobId, adapterHash);
    assert.equal(await deleteUnneededFiles(database.db, store), 1);
    assert.deepEqual([await store.has(adapterHash), await recordsOf(adapterHash)], [false, 0]);
  });

  it('charges nothing for a version whose adapter is damaged, which expires at its deadline', async () => {
    const due = await makeVersion({ age: '26 hours', left: '10 minutes' }, { activate: true });
    const past = await makeVersion({ age: '26 hours', left: '-1 hour' }, { activate: true });
    for (const { adapter_hash } of [due, past]) assert.ok(await markAdapterDamaged(database.db, adapter_hash));
    assert.equal(await markAdapterDamaged(database.db, due.adapter_hash), false, 'it is no news any more');
    const beforeMicrousd = await Promise.all([due, past].map(({ project_id }) => available(project_id)));
    await renewHosting(database.db);
    const afterMicrousd = await Promise.all([due, past].map(({ project_id }) => available(project_id)));
    assert.deepEqual(afterMicrousd, beforeMicrousd);
    assert.deepEqual([await retentionEnded(due.id), await retentionEnded(past.id)], [false, true]);
    // Made whole in time, it goes on.
    await markAdapterIntact(database.db, due.adapter_hash);
    await renewHosting(database.db);
    assert.equal(await hoursLeft(due.id), 24);
    await markAdapterIntact(database.db, past.adapter_hash);
    assert.deepEqual(await findAdapter(database.db, store, past.id, anyModel), { kind: 'adapter_expired' });
  });

  it('renews a version that is asked for before the next round, for all who ask at once, and charges it once', async () => {
    const { id, project_id } = await makeVersion({ age: '4.5 days', left: '-60 hours' }, { activate: true });
    const beforeMicrousd = await available(project_id);
    const asked = Array.from({ length: 6 }, () => findAdapter(database.db, store, id, anyModel));
    for (const { kind } of await Promise.all(asked)) assert.equal(kind, 'found');
    assert.equal(beforeMicrousd - (await available(project_id)), 3 * dayMicrousd);
    const ended = await makeVersion({ age: '4.5 days', left: '-60 hours' }, { credit_microusd: 1_000_000 });
    assert.deepEqual(await findAdapter(database.db, store, ended.id, anyModel), { kind: 'adapter_expired' });
    assert.ok(await retentionEnded(ended.id));
  });

  it('removes the work of jobs that have ended, of all their claims, and of no other', async () => {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const { job_id: ended } = await createTestVersion(database.db, key);
    const open = await admitTestLearning(database.db, key);
    for (const jobId of [ended, open]) {
      for (const fencingToken of [1, 2]) await openWorkFolder(folder, { job_id: jobId, fencing_token: fencingToken });
    }
    await removeEndedWork(database.db, folder);
    assert.deepEqual(await listWorkFolders(folder), [open]);
    // Later tests claim the next job there is.
    const job = await claimJob(database.db, { kind: 'internalization', worker_id: 'w', leaseMs: 60_000 });
    assert.ok(job !== null && job.job_id === open);
    assert.equal(await failJob(database.db, job, 'engine_failed'), 'done');
  });

  it('does not delete an adapter that a job is about to keep again', async () => {
    const { adapter_hash, id } = await makeVersion({ age: '10 days', left: '-8 days' });
    await expireVersion(database.db, id);
    await makeFiles(adapter_hash);
    const key = await createTestKey(database.db, await createTestProject(database.db));
    await admitTestLearning(database.db, key);
    const job = await claimJob(database.db, { kind: 'internalization', worker_id: 'saving', leaseMs: 60_000 });
    assert.ok(job !== null);
    // Both begin at once: either the deletion comes first and the job keeps it anew, or the job does and it stays.
    const saving = async (): Promise<void> => {
      assert.equal(await recordKeptAdapter(database.db, job, adapter_hash), 'done');
      if (!(await store.has(adapter_hash))) await makeFiles(adapter_hash);
    };
    await Promise.all([saving(), deleteUnneededFiles(database.db, store)]);
    assert.ok(await store.has(adapter_hash));
    assert.equal(await failJob(database.db, job, 'engine_failed'), 'done');
  });
});
