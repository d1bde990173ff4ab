import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { claimJob } from '../jobs/claimJob.js';
import { failJob } from '../jobs/failJob.js';
import { grantCredit } from '../ledger/grantCredit.js';
import { createTestKey } from '../testing/testApp.js';
import { admitTestLearning } from '../testing/testVersion.js';
import { activateInNamespace } from '../versions/activateInNamespace.js';
import { markAdapterDamaged, markAdapterIntact } from '../versions/adapterDamage.js';
import { expireVersion } from '../versions/expireVersion.js';
import { findAdapter } from '../worker/findAdapter.js';
import { renewHosting } from './renewHosting.js';
import {
  anyModel,
  dayMicrousd,
  database,
  store,
  makeVersion,
  available,
  retentionEnded,
  hoursLeft,
  open,
  close,
} from '../testing/retentionTest.js';

before(open);
after(close);

describe('the hosting of a version', () => {
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
    // Its charge went back with its deadline.
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
});
