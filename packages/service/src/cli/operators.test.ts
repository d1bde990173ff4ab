import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning, createTestVersion } from '../testing/testVersion.js';

const program = fileURLToPath(new URL('../../bin/engraft.js', import.meta.url));

const auditEvent = z.strictObject({
  id: z.number(),
  occurred_at: z.iso.datetime(),
  action: z.string(),
  actor: z.string(),
  account: z.string(),
  reason: z.string().nullable(),
  project: z.string().nullable(),
  target: z.string(),
  details: z.record(z.string(), z.unknown()),
});

/** The command as a script of an operator runs it: changes to jobs, and the audit log of them. */
describe('engraft for operators', () => {
  let database: TestDatabase;
  let key: TestKey;
  let dataFolder: string;
  before(async () => {
    database = await openTestDatabase();
    key = await createTestKey(database.db, await createTestProject(database.db));
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-operators-'));
  });
  after(async () => {
    await database.close();
    await rm(dataFolder, { recursive: true });
  });

  async function engraft(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, DATABASE_URL: database.url, ENGRAFT_DATA_DIR: dataFolder };
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'exit') as Promise<[number]>;
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { status, stdout, stderr };
  }
  async function json<Value>(schema: z.ZodType<Value>, ...args: string[]): Promise<Value> {
    const { status, stdout, stderr } = await engraft(...args, '--json');
    assert.deepEqual([status, stderr], [0, '']);
    return schema.parse(JSON.parse(stdout));
  }
  const audit = (...args: string[]) => json(z.array(auditEvent), 'audit', 'list', ...args);

  it('lists, shows, cancels and settles jobs, without what callers sent', async () => {
    const [first, second] = [await admitTestLearning(database.db, key), await admitTestLearning(database.db, key)];
    const open = { status: 'reconciliation_required', error_code: 'receipt_missing' } as const;
    await database.db.updateTable('jobs').set(open).where('id', '=', first).execute();
    const listed = z.array(z.looseObject({ id: z.string(), status: z.string(), subject_id: z.string() }));
    const ids = (jobs: z.infer<typeof listed>): string[] => jobs.map(({ id }) => id);
    assert.deepEqual(ids(await json(listed, 'job', 'list')), [second, first], 'newest first');
    assert.deepEqual(ids(await json(listed, 'job', 'list', '--status', 'reconciliation_required')), [first]);
    assert.deepEqual(ids(await json(listed, 'job', 'list', '--kind', 'inference')), []);
    const shown = await engraft('job', 'show', second, '--json');
    assert.doesNotMatch(shown.stdout, /xxxxx|"result"|"content"/);
    assert.equal(z.looseObject({ status: z.string() }).parse(JSON.parse(shown.stdout)).status, 'queued');
    assert.match((await engraft('job', 'show', 'job_none')).stderr, /there is no job 'job_none'/);

    const done = z.looseObject({ id: z.string(), status: z.string() });
    const cancelled = await json(done, 'job', 'cancel', second, '--by', 'Anna', '--reason', 'sent by mistake');
    assert.deepEqual([cancelled.id, cancelled.status], [second, 'failed']);
    const again = await engraft('job', 'cancel', second);
    assert.deepEqual([again.status, again.stdout], [1, '']);
    assert.match(again.stderr, /cannot be cancelled: it has ended as failed/);
    await json(done, 'job', 'resolve', first, '--charge-microusd', '7', '--reason', 'the bill says so');
    const [resolved, cancel, ...others] = await audit();
    assert.deepEqual(others, [], 'what changed nothing is no event');
    const account = `${userInfo().username}@${hostname()}`;
    assert.deepEqual(
      [cancel?.action, cancel?.actor, cancel?.account, cancel?.reason, cancel?.target],
      ['job.cancel', 'Anna', account, 'sent by mistake', second],
    );
    assert.deepEqual(
      [resolved?.action, resolved?.actor, resolved?.reason, resolved?.target, resolved?.details],
      [
        'job.resolve',
        userInfo().username,
        'the bill says so',
        first,
        { reserved_microusd: 1_000_000, charged_microusd: 7 },
      ],
    );
  });

  it('keeps an event of every command that changes something, and no secret', async () => {
    const made = z.looseObject({ id: z.string() });
    await json(made, 'project', 'create', 'acme', '--by', 'Bert');
    await json(made, 'project', 'set', 'acme', 'requests_per_minute=7');
    await json(z.unknown(), 'credit', 'grant', '--project', 'acme', '--usd', '2');
    const created = await json(made.extend({ secret: z.string() }), 'key', 'create', '--project', 'acme');
    await json(made, 'key', 'revoke', created.id);
    await json(made, 'key', 'revoke', created.id);
    assert.equal((await engraft('project', 'create', 'acme')).status, 1);
    const events = await audit('--project', 'acme');
    assert.deepEqual(
      events.map(({ action }) => action),
      ['key.revoke', 'key.create', 'credit.grant', 'project.set', 'project.create'],
    );
    assert.deepEqual([events[2]?.details, events[3]?.details], [{ amount_microusd: 2e6 }, { requests_per_minute: 7 }]);
    assert.equal(events[1]?.target, created.id);
    assert.doesNotMatch(JSON.stringify(events), new RegExp(created.secret));
    const below = await audit('--project', 'acme', '--before', String(events[3]?.id), '--limit', '5');
    assert.deepEqual(below, events.slice(4));
    const wrong = await engraft('project', 'create', 'other', '--by', 'a\nb');
    assert.deepEqual([wrong.status, wrong.stdout], [2, '']);
    assert.match(wrong.stderr, /--by takes one line of text/);
  });

  it('refunds a job or days of hosting once, with a reason in the audit log and in the ledger', async () => {
    const { id, job_id } = await createTestVersion(database.db, key, { subject_id: 'refunded' });
    const project = await database.db
      .selectFrom('projects')
      .select('name')
      .where('id', '=', key.project_id)
      .executeTakeFirstOrThrow();
    const refund = ['credit', 'refund', '--reason', 'it said nothing'];
    const ofJob = z.strictObject({ job_id: z.string(), refunded_microusd: z.int(), available_microusd: z.int() });
    const first = await json(ofJob, ...refund, '--job', job_id, '--usd', '0.4');
    assert.deepEqual([first.job_id, first.refunded_microusd], [job_id, 400_000]);
    assert.deepEqual(
      await json(ofJob, ...refund, '--job', job_id, '--usd', '0.4'),
      first,
      'a repetition changes nothing',
    );
    const other = await engraft(...refund, '--job', job_id, '--usd', '0.5');
    assert.deepEqual([other.status, other.stdout], [1, '']);
    assert.match(other.stderr, /was refunded before: 0\.40 USD, once and for all/);

    await database.owner
      .insertInto('transfers')
      .values({
        kind: 'hosting',
        from_account: `available:${key.project_id}`,
        to_account: `spent:${key.project_id}`,
        amount_microusd: 7,
        version_id: id,
        hosting_day: 1,
      })
      .execute();
    const ofHosting = z.strictObject({ days: z.int(), refunded_microusd: z.int(), available_microusd: z.int() });
    const since = ['--project', project.name, '--hosting-since', '2020-01-01T00:00:00Z', '--version', id];
    const days = await json(ofHosting, ...refund, ...since);
    assert.deepEqual([days.days, days.refunded_microusd], [1, 7]);
    assert.deepEqual(await json(ofHosting, ...refund, ...since), { ...days, days: 0, refunded_microusd: 0 });

    const events = await audit('--project', project.name, '--action', 'credit.refund');
    assert.deepEqual(
      events.map(({ target, reason, details }) => [target, reason, details['refunded_microusd']]),
      [
        [id, 'it said nothing', 7],
        [job_id, 'it said nothing', 400_000],
      ],
    );
    const [memo] = await database.db.selectFrom('transfers').select('memo').where('kind', '=', 'refund').execute();
    assert.equal(memo?.memo, 'it said nothing');
  });

  it('refuses a refund that does not say what or why', async () => {
    for (const [args, message] of [
      [['--job', 'job_none'], /say why/],
      [['--reason', 'x'], /say what to refund/],
      [['--reason', 'x', '--project', 'p'], /say what to refund/],
      [['--reason', 'x', '--job', 'j', '--project', 'p'], /cannot be used with/],
      [['--reason', 'x', '--job', 'j', '--usd', '0'], /more than 0/],
      [['--reason', 'x', '--project', 'p', '--hosting-since', 'monday'], /must be a time like/],
      [['--reason', 'x', '--project', 'p', '--hosting-since', '2020-01-01T00:00:00Z', '--usd', '1'], /by whole days/],
    ] as const) {
      const { status, stderr } = await engraft('credit', 'refund', ...args);
      assert.equal(status, 2, stderr);
      assert.match(stderr, message);
    }
    const unknown = await engraft('credit', 'refund', '--reason', 'x', '--job', 'job_none');
    assert.deepEqual([unknown.status, unknown.stderr], [1, "engraft: there is no job 'job_none', or it is archived\n"]);
  });

  it('erases a subject or a tenant, with a reason in the audit log, and says what was there', async () => {
    const { name } = await database.db
      .selectFrom('projects')
      .select('name')
      .where('id', '=', key.project_id)
      .executeTakeFirstOrThrow();
    await createTestVersion(database.db, key, { subject_id: 'hannelore', tenant_id: 'northwind' });
    await createTestVersion(database.db, key, { subject_id: 'bertrand', tenant_id: 'northwind' });
    const where = ['--project', name, '--reason', 'asked for'];
    const erased = z.unknown();
    assert.deepEqual(await json(erased, 'subject', 'erase', 'hannelore', '--tenant', 'northwind', ...where), {
      subject_id: 'hannelore',
      tenant_id: 'northwind',
      versions: 1,
      jobs: 1,
    });
    assert.deepEqual(await json(erased, 'tenant', 'erase', 'northwind', ...where), {
      tenant_id: 'northwind',
      subjects: 1,
      versions: 1,
      jobs: 1,
      keys: 0,
    });
    const [ofTenant, ofSubject] = await audit();
    assert.deepEqual([ofTenant?.action, ofTenant?.target], ['tenant.erase', 'northwind']);
    assert.deepEqual([ofSubject?.action, ofSubject?.reason], ['subject.erase', 'asked for']);
    const [job] = await json(z.array(z.looseObject({ id: z.string() })), 'job', 'list', '--limit', '1');
    assert.match((await engraft('job', 'show', job?.id ?? '')).stdout, /subject_id: +\(erased\)/);
    const gone = await engraft('tenant', 'erase', 'northwind', '--project', name);
    assert.deepEqual([gone.status, gone.stdout], [1, '']);
    assert.match(gone.stderr, /project '.*' has nothing of a tenant 'northwind'/);
    assert.equal((await engraft('subject', 'erase', 'a b', '--project', name)).status, 2);
  });

  it('makes links of the console: for an owner, for a role in one project, and to reset a password', async () => {
    const made = z.strictObject({ url: z.string(), expires_at: z.iso.datetime() });
    const { name } = await database.db
      .selectFrom('projects')
      .select('name')
      .where('id', '=', key.project_id)
      .executeTakeFirstOrThrow();
    const owner = await json(made, 'console', 'link');
    assert.match(owner.url, /^http:\/\/127\.0\.0\.1:8080\/console\/setup#[\w-]{43}$/);
    await database.db
      .insertInto('members')
      .values({ id: 'mem_x', email: 'anna@example.com', password_hash: '' })
      .execute();
    await json(made, 'console', 'link', '--email', 'Anna@example.com');
    await json(made, 'console', 'link', '--email', 'ben@example.com', '--role', 'viewer', '--project', name);
    const links = await database.db
      .selectFrom('console_links')
      .select(['email', 'role', 'project_id'])
      .orderBy('created_at')
      .execute();
    assert.deepEqual(links, [
      { email: null, role: 'owner', project_id: null },
      { email: 'anna@example.com', role: null, project_id: null },
      { email: 'ben@example.com', role: 'viewer', project_id: key.project_id },
    ]);
    assert.equal((await audit('--action', 'console.link')).length, 3);
    assert.equal((await engraft('console', 'link', '--project', name)).status, 2);
    assert.equal((await engraft('console', 'link', '--email', 'nobody')).status, 2);
  });
});
