import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { openFolderStore } from '../adapterStore/folderStore.js';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion } from '../testing/testVersion.js';
import { readServiceAddress } from './serviceAddress.js';

const program = fileURLToPath(new URL('../../bin/engraft.js', import.meta.url));

describe('a service without an engine', () => {
  let database: TestDatabase;
  let dataFolder: string;
  before(async () => {
    database = await openTestDatabase();
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-run-service-'));
    await openFolderStore(dataFolder);
  });
  after(async () => {
    await database.close();
    await rm(dataFolder, { recursive: true });
  });

  /** A version whose hosting was due a day ago. */
  async function missVersion(): Promise<string> {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const { id } = await createTestVersion(database.db, key);
    const missed = {
      created_at: sql<Date>`now() - interval '2 days'`,
      expires_at: sql<Date>`now() - interval '1 day'`,
    };
    await database.db.updateTable('versions').set(missed).where('id', '=', id).execute();
    return id;
  }

  async function isRetained(versionId: string): Promise<boolean> {
    const { retained } = await database.db
      .selectFrom('versions')
      .select(sql<boolean>`expires_at > now()`.as('retained'))
      .where('id', '=', versionId)
      .executeTakeFirstOrThrow();
    return retained;
  }

  const environment = (): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    ENGRAFT_DATA_DIR: dataFolder,
    ENGRAFT_ENGINE: 'off',
  });

  function start(t: TestContext, ...command: string[]) {
    const service = spawn(process.execPath, [program, ...command], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    t.after(() => void service.kill('SIGKILL'));
    return service;
  }

  it('hosts versions all the same, and makes good what it missed', async (t) => {
    const versionId = await missVersion();
    const serve = start(t, 'serve', '--port', '0');
    await once(serve.stdout, 'data');
    while (serve.exitCode === null && !(await isRetained(versionId))) await sleep(20);
    // As when its terminal is closed.
    serve.kill('SIGHUP');
    assert.deepEqual(await once(serve, 'exit'), [0, null]);
  });

  it('refuses a folder without the adapters that its database has, before a version is taken for damaged', async (t) => {
    const otherFolder = await mkdtemp(path.join(tmpdir(), 'engraft-run-service-'));
    t.after(() => rm(otherFolder, { recursive: true }));
    const serve = start(t, 'serve', '--port', '0', '--data', otherFolder);
    assert.deepEqual(await once(serve, 'exit'), [1, null]);
  });

  it('looks at the clock when it starts: "`GET /metrics` is Prometheus text"', async (t) => {
    const ahead = { seen_at: sql<Date>`now() + interval '1 hour'` };
    await database.db.updateTable('clock').set(ahead).execute();
    const serve = start(t, 'serve', '--port', '0');
    await once(serve.stdout, 'data');
    const metrics = await fetch(`${(await readServiceAddress(dataFolder)) ?? ''}/metrics`);
    assert.match(await metrics.text(), /^engraft_clock_jumps_total\{direction="back"\} 1$/m);
    serve.kill('SIGTERM');
    assert.deepEqual(await once(serve, 'exit'), [0, null]);
  });

  it('takes a wish to stop that comes twice at once for one', async (t) => {
    const serve = start(t, 'serve', '--port', '0');
    await once(serve.stdout, 'data');
    serve.kill('SIGTERM');
    serve.kill('SIGTERM');
    serve.kill('SIGINT');
    assert.deepEqual(await once(serve, 'exit'), [0, null]);
  });

  it('says where services listen that run on the same folder, the last one first, and forgets those that were killed', async (t) => {
    const first = start(t, 'serve', '--port', '0');
    await once(first.stdout, 'data');
    const address = await readServiceAddress(dataFolder);
    assert.notEqual(address, null);
    const second = start(t, 'serve', '--port', '0');
    await once(second.stdout, 'data');
    assert.notEqual(await readServiceAddress(dataFolder), address);
    second.kill('SIGTERM');
    await once(second, 'exit');
    assert.equal(await readServiceAddress(dataFolder), address);
    first.kill('SIGKILL');
    await once(first, 'exit');
    assert.equal(await readServiceAddress(dataFolder), null);
  });

  it('drains when the `npx` that runs it is killed', { skip: process.platform === 'win32' }, async (t) => {
    // As npm runs it: a shell of npm's between, which passes no signal on.
    const command = `"${process.execPath}" "${program}" serve --port 0; :`;
    const shell = spawn('sh', ['-c', command], {
      env: { ...environment(), npm_command: 'exec' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.after(() => void shell.kill('SIGKILL'));
    await once(shell.stdout, 'data');
    shell.kill('SIGTERM');
    assert.match(await text(shell.stderr), /"draining".*"stopped"/s);
  });

  it('does so as a worker alone, too', async (t) => {
    const versionId = await missVersion();
    const worker = start(t, 'worker');
    while (worker.exitCode === null && !(await isRetained(versionId))) await sleep(20);
    assert.equal(worker.exitCode, null);
    worker.kill('SIGTERM');
    assert.deepEqual(await once(worker, 'exit'), [0, null]);
  });

  it('has health and metrics of a worker at an address of its own, where there is no API to describe', async (t) => {
    const worker = spawn(process.execPath, [program, 'worker'], {
      env: { ...environment(), ENGRAFT_OPERATIONS_PORT: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    t.after(() => void worker.kill('SIGKILL'));
    let log = '';
    worker.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const url = (): string | undefined => /"url":"(http:[^"]+)"/.exec(log)?.[1];
    while (worker.exitCode === null && url() === undefined) await sleep(20);
    const get = async (target: string) => {
      const response = await fetch(`${url() ?? log}${target}`);
      return { status: response.status, text: await response.text() };
    };
    assert.equal((await get('/healthz')).status, 200);
    assert.equal((await get('/readyz')).status, 200);
    const { text } = await get('/metrics');
    for (const name of ['engraft_open_jobs{', 'engraft_database_reachable 1', 'process_cpu_seconds_total ']) {
      assert.ok(text.includes(`\n${name}`), name);
    }
    for (const target of ['/openapi.json', '/docs', '/v1/models']) assert.equal((await get(target)).status, 404);
    worker.kill('SIGTERM');
    assert.deepEqual(await once(worker, 'exit'), [0, null]);
  });
});

describe('a first start that is told to stop', { skip: process.platform === 'win32' }, () => {
  it('ends without listening or a fault, and the next one begins anew', async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-run-service-'));
    t.after(() => rm(folder, { recursive: true }));
    const start = () => {
      const service = spawn(process.execPath, [program, 'serve', '--port', '0', '--data', folder], {
        env: { PATH: process.env['PATH'], ENGRAFT_ENGINE: 'off' },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      t.after(() => void service.kill('SIGKILL'));
      return service;
    };
    const first = start();
    const [shown, logged] = [text(first.stdout), text(first.stderr)];
    while (first.exitCode === null && !existsSync(path.join(folder, 'postgres.new', 'cluster', 'PG_VERSION'))) {
      await sleep(5);
    }
    assert.ok(first.pid !== undefined);
    // As Ctrl-C does, to the whole process group.
    process.kill(-first.pid, 'SIGINT');
    assert.deepEqual(await once(first, 'exit'), [0, null]);
    assert.equal(await shown, '');
    assert.match(await logged, /"told to stop while starting".*"stopped"/s);

    const second = start();
    await once(second.stdout, 'data');
    second.kill('SIGTERM');
    assert.deepEqual(await once(second, 'exit'), [0, null]);
  });
});
