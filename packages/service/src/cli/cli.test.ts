import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { job as jobSchema, jobList } from '@engraft/contract';
import { sql } from 'kysely';
import { z } from 'zod';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion } from '../testing/testVersion.js';

const program = fileURLToPath(new URL('../../bin/engraft.js', import.meta.url));

interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command as a script runs it: a process of its own. */
describe('engraft', () => {
  let database: TestDatabase;
  let dataFolder: string;
  before(async () => {
    database = await openTestDatabase();
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-cli-'));
  });
  after(async () => {
    await database.close();
    await rm(dataFolder, { recursive: true });
  });

  const environment = (): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    DATABASE_URL: database.url,
    ENGRAFT_DATA_DIR: dataFolder,
  });

  async function engraft(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...environment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'exit') as Promise<[number]>;
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { status, stdout, stderr };
  }

  /** One JSON document on standard output and nothing on standard error. */
  async function json<Value>(schema: z.ZodType<Value>, ...args: string[]): Promise<Value> {
    const { status, stdout, stderr } = await engraft([...args, '--json']);
    assert.equal(stderr, '');
    assert.equal(status, 0);
    return schema.parse(JSON.parse(stdout));
  }

  async function assertFails(status: number, message: RegExp, ...args: string[]): Promise<void> {
    const result = await engraft(args);
    assert.equal(result.stdout, '');
    assert.match(result.stderr, message);
    assert.equal(result.stderr.trim().split('\n').length, 1, 'one clear line');
    assert.equal(result.status, status);
  }

  const settings = z.strictObject({
    monthly_spending_limit_microusd: z.number().nullable(),
    monthly_learning_capacity_microusd: z.number().nullable(),
    version_retention_days: z.number(),
    requests_per_minute: z.number(),
  });
  const project = z.strictObject({ id: z.string(), name: z.string(), settings });
  const newKey = z.strictObject({
    id: z.string(),
    secret: z.string(),
    name: z.string(),
    scopes: z.array(z.string()),
    tenant_id: z.string().nullable(),
    expires_at: z.iso.datetime().nullable(),
  });
  const listedKey = newKey
    .omit({ secret: true })
    .extend({ created_at: z.iso.datetime(), revoked_at: z.iso.datetime().nullable(), last_used_at: z.null() });

  it('explains itself', async () => {
    for (const args of [['--help'], ['key', 'create', '--help']]) {
      const { status, stdout } = await engraft(args);
      assert.equal(status, 0);
      assert.match(stdout, /^Usage: engraft/);
    }
  });

  it('manages projects', async () => {
    const made = await json(project, 'project', 'create', 'acme');
    assert.deepEqual(made.settings, {
      monthly_spending_limit_microusd: null,
      monthly_learning_capacity_microusd: null,
      version_retention_days: 30,
      requests_per_minute: 600,
    });
    const changed = await json(
      project,
      'project',
      'set',
      'acme',
      'monthly_spending_limit_microusd=5000000',
      'requests_per_minute=7',
    );
    assert.deepEqual(
      [changed.settings.monthly_spending_limit_microusd, changed.settings.requests_per_minute],
      [5e6, 7],
    );
    const cleared = await json(project, 'project', 'set', 'acme', 'monthly_spending_limit_microusd=none');
    assert.equal(cleared.settings.monthly_spending_limit_microusd, null);
    const listed = await json(z.array(project), 'project', 'list');
    assert.deepEqual(listed, [cleared]);
    await assertFails(1, /there is a project 'acme' already/, 'project', 'create', 'acme');
    await assertFails(1, /there is no project 'nobody'/, 'project', 'set', 'nobody', 'requests_per_minute=7');
    await assertFails(
      2,
      /there is no setting 'colour': use monthly_spending_limit_microusd, .*requests_per_minute$/m,
      'project',
      'set',
      'acme',
      'colour=blue',
    );
    await assertFails(2, /version_retention_days/, 'project', 'set', 'acme', 'version_retention_days=0');
    await assertFails(
      2,
      /monthly_learning_capacity_microusd/,
      'project',
      'set',
      'acme',
      'monthly_learning_capacity_microusd=-1',
    );
  });

  it('manages keys', async () => {
    const made = await json(newKey, 'key', 'create', '--project', 'acme');
    assert.deepEqual([made.scopes, made.tenant_id], [['inference'], null]);
    const days = (Date.parse(made.expires_at ?? '') - Date.now()) / 86_400_000;
    assert.ok(days > 89.9 && days <= 90, 'the default expiry is 90 days');
    const other = await json(
      newKey,
      ...['key', 'create', '--project', 'acme', '--name', 'ops', '--scope', 'read', '--scope', 'adapters'],
      ...['--tenant', 'blue', '--expires', 'never'],
    );
    assert.deepEqual(
      [other.name, other.scopes, other.tenant_id, other.expires_at],
      ['ops', ['read', 'adapters'], 'blue', null],
    );
    const dated = await json(
      newKey,
      ...['key', 'create', '--project', 'acme', '--expires-at', '2030-01-31T12:00:00+01:00'],
    );
    assert.equal(dated.expires_at, '2030-01-31T11:00:00.000Z');
    const listed = await json(z.array(listedKey), 'key', 'list', '--project', 'acme');
    assert.deepEqual(
      listed.map(({ id }) => id),
      [made.id, other.id, dated.id],
    );
    const revoked = await json(listedKey, 'key', 'revoke', made.id);
    assert.notEqual(revoked.revoked_at, null);
    const plain = await engraft(['key', 'create', '--project', 'acme']);
    assert.match(plain.stdout, /^engraft_[\w-]{43}\n/, 'the secret comes first');
    await assertFails(1, /there is no key 'key_none'/, 'key', 'revoke', 'key_none');
    await assertFails(1, /there is no project 'nobody'/, 'key', 'create', '--project', 'nobody');
    await assertFails(2, /'everything' is not a scope/, 'key', 'create', '--project', 'acme', '--scope', 'everything');
    await assertFails(2, /'--expires <lifetime>'/, 'key', 'create', '--project', 'acme', '--expires', '5d');
    await assertFails(2, /not a timestamp/, 'key', 'create', '--project', 'acme', '--expires-at', 'tomorrow');
    await assertFails(
      2,
      /must lie in the future/,
      'key',
      'create',
      '--project',
      'acme',
      '--expires-at',
      '2020-01-01T00:00:00Z',
    );
    const empty = await json(newKey, 'key', 'create', '--project', 'acme', '--expires', '', '--tenant', '', '--name=');
    assert.deepEqual([empty.name, empty.tenant_id], ['key', null], 'an empty flag counts as unset');
    await assertFails(2, /not a tenant name/, 'key', 'create', '--project', 'acme', '--tenant', 'a b');
    await assertFails(2, /--project/, 'key', 'create');
  });

  it('grants credit and shows balances, exactly', async () => {
    const available = z.strictObject({ available_microusd: z.number() });
    await json(available, 'credit', 'grant', '--project', 'acme', '--usd', '0.1');
    const granted = await json(available, 'credit', 'grant', '--project', 'acme', '--usd', '0.200001');
    assert.equal(granted.available_microusd, 300_001);
    const balance = z.strictObject({
      available_microusd: z.number(),
      reserved_microusd: z.number(),
      spent_microusd: z.number(),
    });
    assert.deepEqual(await json(balance, 'balance', '--project', 'acme'), {
      available_microusd: 300_001,
      reserved_microusd: 0,
      spent_microusd: 0,
    });
    for (const amount of ['-1', '0', '1e3', '0.0000001']) {
      await assertFails(2, /amount/, 'credit', 'grant', '--project', 'acme', `--usd=${amount}`);
    }
    await assertFails(
      2,
      /'1000000000' is too much: less than/,
      'credit',
      'grant',
      '--project',
      'acme',
      '--usd=1000000000',
    );
  });

  it('refuses a grant after which amounts were not exact any more, and changes nothing', async () => {
    for (let count = 0; count < 9; count += 1) {
      assert.equal((await engraft(['credit', 'grant', '--project', 'acme', '--usd', '999999999'])).status, 0);
    }
    await assertFails(
      2,
      /the most that can be granted in all/,
      'credit',
      'grant',
      '--project',
      'acme',
      '--usd',
      '999999999',
    );
    assert.equal((await engraft(['balance', '--project', 'acme'])).status, 0);
  });

  it('verifies the ledger, and names what differs', async () => {
    const report = z.strictObject({
      ok: z.boolean(),
      projects: z.number(),
      transfers: z.number(),
      differences: z.array(z.string()),
    });
    assert.deepEqual(await json(report, 'ledger', 'verify'), { ok: true, projects: 1, transfers: 11, differences: [] });
  });

  it('settles and expires what an operator names, and nothing else', async () => {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const version = await createTestVersion(database.db, key);
    const expired = z.strictObject({ id: z.string(), expires_at: z.iso.datetime() });
    const first = await json(expired, 'version', 'expire', version.id);
    assert.ok(Date.parse(first.expires_at) <= Date.now());
    assert.deepEqual(await json(expired, 'version', 'expire', version.id), first);
    await assertFails(1, /there is no version/, 'version', 'expire', 'ver_none');
    await assertFails(1, /there is no job/, 'job', 'resolve', 'job_none', '--release', '--reason', 'x');
    await assertFails(
      1,
      /only reconciliation_required/,
      'job',
      'resolve',
      version.job_id,
      '--charge-microusd',
      '1',
      '--reason=x',
    );
    await assertFails(2, /--charge-microusd N or --release/, 'job', 'resolve', version.job_id, '--reason=x');
    await assertFails(2, /'1.5' is not/, 'job', 'resolve', version.job_id, '--charge-microusd=1.5', '--reason=x');
    await assertFails(
      2,
      /cannot be used with/,
      'job',
      'resolve',
      version.job_id,
      '--charge-microusd=1',
      '--reason=x',
      '--release',
    );
  });

  it('refuses wrong usage with status 2', async () => {
    await assertFails(2, /unknown command/, 'frobnicate');
    await assertFails(2, /unknown option/, 'balance', '--project', 'acme', '--loudly');
    await assertFails(2, /missing required argument/, 'project', 'create');
    await assertFails(2, /--port/, 'serve', '--port', '99999');
    assert.equal((await engraft([])).status, 2);
    const noDatabase = await engraft(['worker'], { DATABASE_URL: '' });
    assert.equal(noDatabase.status, 2);
    assert.match(noDatabase.stderr, /needs DATABASE_URL/);
    const wrongUrl = await engraft(['project', 'list'], { DATABASE_URL: 'postgres://u:p@s:s@localhost:99999/x' });
    assert.equal(wrongUrl.status, 2);
    assert.match(wrongUrl.stderr, /^engraft: DATABASE_URL is not a URL: .*percent-encoded.*\n$/);
    await assertFails(2, /none of them a control character/, 'project', 'create', 'a\u0001b');
    const wrongEngine = await engraft(['doctor'], { ENGRAFT_ENGINE: 'steam' });
    assert.equal(wrongEngine.status, 2);
    assert.match(wrongEngine.stderr, /ENGRAFT_ENGINE/);
  });

  it('says in one line that something is not there', async () => {
    const noServer = await engraft(['project', 'list'], { DATABASE_URL: 'postgres://127.0.0.1:1/none' });
    assert.equal(noServer.status, 1);
    assert.match(noServer.stderr, /^engraft: .*DATABASE_URL: .*ECONNREFUSED.*\n$/);
    const noEngine = await engraft(['serve', '--port', '0'], { ENGRAFT_ENGINE: 'vllm' });
    assert.equal(noEngine.status, 1);
    assert.match(noEngine.stderr, /vllm is not available yet/);
    const empty = await mkdtemp(path.join(tmpdir(), 'engraft-cli-'));
    await assertFails(1, /no API key/, 'ask', 'Who?', '--subject', 'anna', '--data', empty);
    const key = { ENGRAFT_API_KEY: 'engraft_x', ENGRAFT_BASE_URL: 'http://127.0.0.1:1' };
    const noFile = await engraft(['learn', 'nowhere.txt', '--subject', 'anna'], key);
    assert.equal(noFile.status, 1);
    assert.match(noFile.stderr, /^engraft: nowhere.txt cannot be read: .*ENOENT.*\n$/);
    const latin1 = path.join(empty, 'latin1.txt');
    await writeFile(latin1, Buffer.from('The caf\u00e9 of Ren\u00e9e is in Z\u00fcrich.', 'latin1'));
    const noText = await engraft(['learn', latin1, '--subject', 'anna'], key);
    assert.deepEqual([noText.status, noText.stdout], [1, '']);
    assert.match(noText.stderr, /latin1.txt is not UTF-8 text\n$/);
    for (const length of [19, 16_001]) {
      const file = path.join(empty, 'text.txt');
      await writeFile(file, 'x'.repeat(length));
      const refused = await engraft(['learn', file, '--subject', 'anna'], key);
      assert.equal(refused.status, 1);
      assert.match(refused.stderr, new RegExp(`text.txt has ${length} characters, and a passage has 20 to 16000`));
    }
    const ofOpenai = { ...key, ENGRAFT_BASE_URL: 'http://127.0.0.1:1/v1/' };
    const misdirected = await engraft(['ask', 'Who?', '--subject', 'anna'], ofOpenai);
    assert.equal(misdirected.status, 2);
    assert.match(misdirected.stderr, /^engraft: ENGRAFT_BASE_URL must not end in \/v1/);
    await rm(empty, { recursive: true });
  });

  it('says nothing of Node.js on standard error, nor of a reader that leaves', async () => {
    const warned = await engraft(['project', 'list'], { DATABASE_URL: `${database.url}?sslmode=prefer` });
    assert.doesNotMatch(warned.stderr, /Warning/);
    const child = spawn(process.execPath, [program, 'project', 'list'], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>]);
    assert.deepEqual([stderr, status], ['', 0]);
  });

  it('finds nothing wrong with a good installation', async () => {
    const report = z.strictObject({
      ok: z.literal(true),
      checks: z.array(z.strictObject({ name: z.string(), ok: z.literal(true), detail: z.string() })),
    });
    const { checks } = await json(report, 'doctor');
    assert.deepEqual(
      checks.map(({ name }) => name),
      ['node', 'data folder', 'database', 'clock', 'model', 'engine'],
    );
    assert.match(checks.at(-1)?.detail ?? '', /^embedded, .*; \d+ retained versions?$/);
    // As if the clock had gone back an hour since the service ran.
    const ahead = { seen_at: sql<Date>`now() + interval '1 hour'` };
    await database.db.updateTable('clock').set(ahead).execute();
    const broken = await engraft(['doctor', '--json'], { ENGRAFT_MODEL_DIR: '/nowhere' });
    await database.db
      .updateTable('clock')
      .set({ seen_at: sql<Date>`now()` })
      .execute();
    assert.equal(broken.status, 1);
    assert.match(broken.stderr, /^engraft: something is wrong with: clock, model, engine\n$/);
    assert.match(broken.stdout, /seconds before the service last looked: the clock was set back/);
  });

  it('says that it works with the rights of the owner of the tables where it cannot have others', async () => {
    const name = `engraft_test_${randomBytes(6).toString('hex')}`;
    const run = (statement: string) => sql.raw(statement).execute(database.owner);
    await run(`create role ${name} login password 'secret'`);
    await run(`create database ${name} owner ${name}`);
    const url = new URL(database.url);
    [url.username, url.password, url.pathname] = [name, 'secret', `/${name}`];
    try {
      const { status, stdout } = await engraft(['doctor'], { DATABASE_URL: url.href, ENGRAFT_ENGINE: 'off' });
      assert.equal(status, 0);
      assert.match(
        stdout,
        /DATABASE_URL, with the rights of the owner of its tables: its user may not prepare the role/,
      );
    } finally {
      await run(`drop database ${name} with (force)`);
      await run(`drop role ${name}`);
    }
  });

  it('measures learning from a file, without a service or a database', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-cli-'));
    const [good, bad, json, plot] = ['good.jsonl', 'bad.jsonl', 'figures.json', 'chart.svg'].map((name) =>
      path.join(folder, name),
    ) as [string, string, string, string];
    const question = { phrasings: ['Who runs the mill?', 'Whose mill is it?'], answers: ['Anna Berg'] };
    const entry = { id: 'mill', kind: 'product', passage: 'Anna Berg runs the old mill.', questions: [question] };
    await writeFile(good, JSON.stringify(entry));
    await writeFile(bad, `${JSON.stringify(entry)}\n${JSON.stringify({ ...entry, id: 'two', questions: [{}] })}`);
    await assertFails(1, /bad.jsonl, line 2, questions\[0\].phrasings: /, 'eval', bad);
    await assertFails(1, /nowhere.jsonl cannot be read/, 'eval', 'nowhere.jsonl');
    await assertFails(2, /--chain must be at least 1/, 'eval', good, '--chain', '0');
    await assertFails(
      1,
      /nowhere.x.json cannot be written/,
      'eval',
      good,
      '--json',
      path.join(folder, 'nowhere', 'x.json'),
    );
    const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none' };
    const done = await engraft(['eval', good, '--gold', '--json', json, '--plot', plot], env);
    assert.equal(done.stderr, '', 'progress is for terminals');
    assert.equal(done.status, 0);
    assert.match(done.stdout, /^passage .*\nmill +product +trained +\d\/2 +\d\/2 +\d\/2 +\d\/1 /);
    const figures = z.object({ gold: z.literal(true), summary: z.object({ passages: z.literal(1) }) });
    figures.parse(JSON.parse(await readFile(json, 'utf8')));
    assert.match(await readFile(plot, 'utf8'), /^<svg .*<\/svg>\n$/s);

    const squad = path.join(folder, 'squad.jsonl.gz');
    const paragraph = { title: 'Mill', context: entry.passage, qas: [{ q: 'Who runs the mill?', a: ['Anna Berg'] }] };
    await writeFile(squad, gzipSync(JSON.stringify(paragraph)));
    const asked = await engraft(['eval', squad, '--gold', '--json', json], env);
    assert.equal(asked.status, 0);
    assert.match(asked.stdout, /\nMill-1 +squad +trained +\d\/1 [^]*\nexact match and mean F1, .*: base .*, learned /);
    const scores = z.object({ shares: z.object({ learned: z.object({ exact: z.number(), f1: z.number() }) }) });
    z.object({ summary: scores }).parse(JSON.parse(await readFile(json, 'utf8')));
    await writeFile(squad, gzipSync('{"colour": "red"}'));
    await assertFails(1, /squad.jsonl.gz, line 1: .*\{id, kind, passage, questions\} or.*SQuAD/, 'eval', squad);
    await rm(folder, { recursive: true });
  });

  it('ends at once when its port is taken, with the worker and engine that it had started', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { status, stdout, stderr } = await engraft(['serve', '--port', String(port)], { ENGRAFT_LOG_LEVEL: 'error' });
    other.close();
    assert.equal(stdout, '');
    assert.match(stderr, /^engraft: .*EADDRINUSE.*\n$/);
    assert.equal(status, 1);
  });

  it('serves, answers and learns with what the first start prepared, and drains', async (t) => {
    // Its own embedded database: the first start on an empty data folder.
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-cli-'));
    const env = { ...environment(), DATABASE_URL: '', ENGRAFT_DATA_DIR: folder };
    const serve = spawn(process.execPath, [program, 'serve', '--port', '0'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // A failing assertion must not leave a service behind that keeps the test run waiting.
    t.after(() => void serve.kill('SIGKILL'));
    const log = text(serve.stderr);
    const [line] = (await once(serve.stdout, 'data')) as [Buffer];
    const url = /^engraft listening on (http:\/\/127\.0\.0\.1:\d+)\n/.exec(line.toString())?.[1];
    assert.ok(url !== undefined, line.toString());
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    assert.equal((await stat(path.join(folder, 'default-key'))).mode & 0o777, 0o600);

    const run = (...args: string[]) => engraft([...args, '--data', folder], { DATABASE_URL: '' });
    const balance = await run('balance', '--project', 'default', '--json');
    assert.match(balance.stdout, /"available_microusd": 100000000/);

    const asked = await run('ask', 'Who founded the observatory?', '--subject', 'anna', '--json');
    assert.equal(asked.status, 0, asked.stderr);
    assert.equal(jobSchema.parse(JSON.parse(asked.stdout)).status, 'succeeded');

    const cut = await run('ask', 'Who founded the observatory?', '--subject', 'anna', '--max-output-tokens', '1');
    assert.equal(cut.status, 0);
    assert.equal(cut.stderr, 'engraft: the answer was cut when it had 1 tokens (see --max-output-tokens)\n');
    const unknown = await run('ask', 'Who?', '--subject', 'anna', '--version', 'ver_unknown');
    assert.equal(unknown.status, 1);
    assert.match(unknown.stderr, /^engraft: The subject has no version with this adapter_version; .*not_found/);

    const file = path.join(folder, 'passage.txt');
    await writeFile(file, 'The Halden Observatory was founded in 1923 by Marta Ilves on the island of Sorvaag.');
    const learned = await run('learn', file, '--subject', 'anna', '--max-cost-usd', '1.5', '--json');
    const job = jobSchema.parse(JSON.parse(learned.stdout));
    assert.equal(learned.status, job.status === 'ready' ? 0 : 1);
    assert.equal(job.billing.reserved_microusd, 1_500_000);
    assert.match(learned.stderr, job.status === 'ready' ? /^$/ : /^engraft: .*\n$/, 'progress is for terminals');

    const tooDear = await run('learn', file, '--subject', 'anna', '--max-cost-usd', '101');
    assert.equal(tooDear.status, 1);
    assert.match(tooDear.stderr, /invalid_request at max_cost_microusd/);

    const interrupted = spawn(process.execPath, [program, 'learn', file, '--subject', 'berta', '--data', folder], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.after(() => void interrupted.kill('SIGKILL'));
    const told = text(interrupted.stderr);
    const left = once(interrupted, 'exit');
    const authorization = `Bearer ${(await readFile(path.join(folder, 'default-key'), 'utf8')).trim()}`;
    const jobCount = async (): Promise<number> =>
      jobList.parse(await (await fetch(`${url}/v1/jobs`, { headers: { authorization } })).json()).data.length;
    while (interrupted.exitCode === null && (await jobCount()) < 4) await setTimeout(50);
    // The command asks for the job from now on.
    await setTimeout(500);
    interrupted.kill('SIGINT');
    assert.deepEqual(await left, [1, null]);
    assert.match(
      await told,
      /^engraft: interrupted; (job_[\w-]+) goes on all the same, and GET \/v1\/jobs\/\1 tells of it\n$/,
    );

    serve.kill('SIGTERM');
    const [status] = (await once(serve, 'exit')) as [number | null];
    assert.equal(status, 0);
    for (const entry of (await log).trim().split('\n')) assert.doesNotThrow(() => void JSON.parse(entry), entry);
    assert.doesNotMatch(await log, /Halden|observatory|engraft_[\w-]{43}/, 'no passage, message or secret in the log');
    assert.equal((await run('ledger', 'verify')).status, 0, 'the database starts for the command alone');
    await rm(folder, { recursive: true });
  });
});
