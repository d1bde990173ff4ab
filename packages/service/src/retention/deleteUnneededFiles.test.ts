import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { recordImport, recordKeptAdapter, recordLeftAdapter } from '../adapterStore/keptAdapters.js';
import { listWorkFolders, openWorkFolder } from '../adapterStore/workFolder.js';
import { claimJob } from '../jobs/claimJob.js';
import { failJob } from '../jobs/failJob.js';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { admitTestLearning, createTestVersion } from '../testing/testVersion.js';
import { expireVersion } from '../versions/expireVersion.js';
import { deleteUnneededFiles } from './deleteUnneededFiles.js';
import { removeEndedWork } from './removeEndedWork.js';
import {
  database,
  folder,
  store,
  makeVersion,
  endedAtDeadline,
  recordsOf,
  makeFiles,
  open,
  close,
} from '../testing/retentionTest.js';

before(open);
after(close);

describe('the files of adapters', () => {
  /** Versions whose retention has ended, with their files. */
  async function makeThreeUnneeded() {
    const versions = [
      await makeVersion({ age: '10 days', left: '-8 days' }),
      await makeVersion({ age: '10 days', left: '-8 days' }),
      await makeVersion({ age: '10 days', left: '-8 days' }),
    ];
    for (const { id, adapter_hash } of versions) {
      await endedAtDeadline(id);
      await makeFiles(adapter_hash);
    }
    return versions;
  }

  it('deletes the files of the others when those of one cannot be deleted', async () => {
    const versions = await makeThreeUnneeded();
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

  it('deletes what is copied again after a version was erased soon after its job', async () => {
    const { id, adapter_hash } = await makeVersion({ age: '1 hour', left: '23 hours' });
    await makeFiles(adapter_hash);
    assert.equal(await deleteUnneededFiles(database.db, store), 0);
    assert.equal(await recordsOf(adapter_hash), 0, 'the version stands for its adapter');
    await database.db
      .updateTable('versions')
      .set({ erased_at: sql<Date>`now()` })
      .where('id', '=', id)
      .execute();
    assert.equal(await deleteUnneededFiles(database.db, store), 1);
    // A worker that had lost the job copies the same adapter, and dies.
    await makeFiles(adapter_hash);
    assert.equal(await deleteUnneededFiles(database.db, store), 1);
    assert.equal(await store.has(adapter_hash), false);
  });

  it('deletes the files of versions however many records there are of files that are gone', async () => {
    const versions = await makeThreeUnneeded();
    const gone = Array.from({ length: 2000 }, (_, index) => `sha256:e${index.toString(16).padStart(63, '0')}`);
    await recordImport(database.db, gone);
    assert.equal(await deleteUnneededFiles(database.db, store), versions.length);
    await database.db.deleteFrom('kept_adapters').where('adapter_hash', 'in', gone).execute();
  });

  it('deletes the files of all erased versions in one round, however many there are', async () => {
    const key = await createTestKey(database.db, await createTestProject(database.db, 1_000_000_000));
    const hashes = Array.from({ length: 210 }, (_, index) => `sha256:a${index.toString(16).padStart(63, '0')}`);
    for (const hash of hashes) {
      await createTestVersion(database.db, key, { adapter_hash: hash, activate: false });
      await makeFiles(hash);
    }
    await database.db
      .updateTable('versions')
      .set({ erased_at: sql<Date>`now()` })
      .where('adapter_hash', 'in', hashes)
      .execute();
    assert.equal(await deleteUnneededFiles(database.db, store), hashes.length);
    assert.ok(!(await Promise.all(hashes.map((hash) => store.has(hash)))).includes(true));
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
