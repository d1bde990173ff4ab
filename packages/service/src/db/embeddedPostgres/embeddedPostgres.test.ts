import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { attachEmbeddedPostgres, type AttachOptions } from './attach.js';

// A folder of mode 0700: as root, the server's own account could not walk to it.
let dataFolder: string;
before(async () => {
  dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-pg-'));
});
after(() => rm(dataFolder, { recursive: true, force: true }));

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function readServerPid(): Promise<number> {
  const text = await readFile(path.join(dataFolder, 'postgres', 'cluster', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

/** A server that is shutting down still refuses in words of its own, or resets what it has accepted. */
async function assertStopped(url: string): Promise<void> {
  const isShuttingDown = (): Promise<boolean> =>
    query(url, 'SELECT 1').then(
      () => false,
      (error: unknown) => (error as { readonly code?: unknown }).code !== 'ECONNREFUSED',
    );
  for (let tries = 0; tries < 200 && (await isShuttingDown()); tries += 1) await sleep(50);
  await assert.rejects(query(url, 'SELECT 1'), { code: 'ECONNREFUSED' });
}

async function isServing(url: string): Promise<boolean> {
  return query(url, 'SELECT 1').then(
    () => true,
    () => false,
  );
}

/**
 * Waits until so many use the server: it takes a moment to notice that one was killed, on a busy machine a longer one.
 */
async function usersOf(url: string, count: number): Promise<void> {
  const held = "SELECT count(*)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'";
  for (let tries = 0; tries < 200; tries += 1) {
    const [row] = await query(url, held);
    if (isDeepStrictEqual(row, { count })) return;
    await sleep(50);
  }
  assert.fail(`the server never had ${count} users`);
}

/** Waits until `url` answers again. */
async function answering(url: string, sql: string): Promise<unknown[]> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await query(url, sql);
    } catch (error) {
      if (tries > 200) throw error;
      await sleep(50);
    }
  }
}

const holderScript = (folder: string, options: AttachOptions): string => `
  import { attachEmbeddedPostgres } from ${JSON.stringify(new URL('attach.js', import.meta.url).href)};
  const server = await attachEmbeddedPostgres(${JSON.stringify(folder)}, ${JSON.stringify(options)});
  process.stdout.write(server.url);
  process.on('SIGTERM', () => void server.release().then(() => process.exit(0)));
  setInterval(() => undefined, 1000);`;

/** Another process that uses the server of the folder. */
const nobody = { uid: 65_534, gid: 65_534 };

/**
 * Why no process can be run as another user here, or false: neither Node.js nor this code may lie in a home that only
 * root can read.
 */
function whyNotAsNobody(): string | false {
  if (process.getuid?.() !== 0) return 'only root may run a process as another user';
  const file = fileURLToPath(new URL('attach.js', import.meta.url));
  const script = `require('node:fs').accessSync(${JSON.stringify(file)})`;
  const { status } = spawnSync(process.execPath, ['--eval', script], { stdio: 'ignore', cwd: '/', ...nobody });
  return status === 0 ? false : 'Node.js or this folder cannot be read by other users';
}

async function spawnHolder(folder: string, account: { uid?: number; gid?: number } = {}, options: AttachOptions = {}) {
  const args = ['--input-type=module', '--eval', holderScript(folder, options)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], cwd: '/', ...account });
  const [url] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, url: url.toString() };
}

describe('embedded PostgreSQL', () => {
  it('starts durable and in UTF-8, and stops with its last user', async () => {
    const first = await attachEmbeddedPostgres(dataFolder);
    const second = await attachEmbeddedPostgres(dataFolder);
    assert.equal(first.url, second.url);
    await query(first.url, 'CREATE TABLE kept (n int)');
    const [settings] = await query(
      first.url,
      `SELECT current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding`,
    );
    assert.deepEqual(settings, { fsync: 'on', encoding: 'UTF8' });
    await first.release();
    assert.equal((await query(second.url, 'SELECT 1')).length, 1, 'the second user still needs it');
    await second.release();
    await assertStopped(first.url);
  });

  it('stops what it started when the password beside the cluster is not its own, and says so', async () => {
    const file = path.join(dataFolder, 'postgres', 'password');
    const password = await readFile(file, 'utf8');
    await writeFile(file, 'x');
    const pidFile = path.join(dataFolder, 'postgres', 'cluster', 'postmaster.pid');
    await assert.rejects(attachEmbeddedPostgres(dataFolder), /postgres.password does not hold the password/);
    await assert.rejects(readFile(pidFile), { code: 'ENOENT' });
    await writeFile(file, password);
  });

  it('starts from a copy that others may look into', { skip: process.platform === 'win32' }, async () => {
    const [home, cluster] = [path.join(dataFolder, 'postgres'), path.join(dataFolder, 'postgres', 'cluster')];
    for (const [file, mode] of [
      [cluster, 0o755],
      [path.join(home, 'password'), 0o644],
    ] as const)
      await chmod(file, mode);
    const server = await attachEmbeddedPostgres(dataFolder);
    await server.release();
    assert.equal((await stat(cluster)).mode & 0o777, 0o700);
    assert.equal((await stat(path.join(home, 'password'))).mode & 0o777, 0o600);
  });

  it('says why it does not start', async () => {
    const settings = path.join(dataFolder, 'postgres', 'cluster', 'postgresql.auto.conf');
    const before = await readFile(settings, 'utf8');
    await writeFile(settings, `${before}shared_buffers = '7TB'\n`);
    await assert.rejects(attachEmbeddedPostgres(dataFolder), /does not start: .*FATAL: .*memory/);
    await writeFile(settings, before);
  });

  it('refuses a wrong password', async () => {
    const server = await attachEmbeddedPostgres(dataFolder);
    const url = new URL(server.url);
    url.password = 'guess';
    await assert.rejects(query(url.href, 'SELECT 1'), { code: '28P01' });
    await server.release();
  });

  it('goes on with the server of a killed process', async () => {
    const { child, url } = await spawnHolder(dataFolder);
    const pid = await readServerPid();
    await query(url, 'INSERT INTO kept VALUES (1)');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const server = await attachEmbeddedPostgres(dataFolder);
    assert.equal(await readServerPid(), pid);
    assert.deepEqual(await query(server.url, 'SELECT n FROM kept'), [{ n: 1 }]);
    await usersOf(server.url, 1);
    await server.release();
    await assertStopped(server.url);
  });

  it('comes back at the same address, with everything committed, when the server is killed', async () => {
    const server = await attachEmbeddedPostgres(dataFolder);
    await query(server.url, 'INSERT INTO kept VALUES (2)');
    process.kill(await readServerPid(), 'SIGKILL');
    assert.deepEqual(await answering(server.url, 'SELECT n FROM kept ORDER BY n'), [{ n: 1 }, { n: 2 }]);
    await server.release();
  });

  it('starts beside a postmaster.pid whose process id now belongs to a stranger', async () => {
    const pidFile = path.join(dataFolder, 'postgres', 'cluster', 'postmaster.pid');
    await writeFile(pidFile, `${process.pid}\n${dataFolder}\n0\n5432\n\n127.0.0.1\n 1 1\nready\n`);
    const server = await attachEmbeddedPostgres(dataFolder);
    assert.equal((await query(server.url, 'SELECT n FROM kept')).length, 2);
    await server.release();
  });

  it('makes one cluster and one server for simultaneous first starts', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-pg-'));
    const holders = await Promise.all([spawnHolder(folder), spawnHolder(folder)]);
    assert.equal(holders[0].url, holders[1].url);
    for (const { child } of holders) child.kill('SIGTERM');
    await Promise.all(holders.map(({ child }) => once(child, 'exit')));
    await rm(folder, { recursive: true });
  });

  it('also runs for a user who is not root', { skip: whyNotAsNobody() }, async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-pg-'));
    chownSync(folder, nobody.uid, nobody.gid);
    const { child, url } = await spawnHolder(folder, nobody);
    assert.deepEqual(await query(url, 'SELECT 1 AS one'), [{ one: 1 }]);
    child.kill('SIGTERM');
    await once(child, 'exit');
    await rm(folder, { recursive: true });
  });

  it(
    'stops by itself some time after its users were killed, and not before',
    { skip: process.platform === 'win32' },
    async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'engraft-pg-'));
      const first = await spawnHolder(folder, {}, { abandonedAfterMs: 400 });
      const second = await spawnHolder(folder);
      first.child.kill('SIGKILL');
      await once(first.child, 'exit');
      await sleep(2_000);
      assert.equal((await query(second.url, 'SELECT 1')).length, 1, 'the second user still needs it');
      second.child.kill('SIGKILL');
      await once(second.child, 'exit');
      for (let tries = 0; tries < 400 && (await isServing(second.url)); tries += 1) await sleep(50);
      await assertStopped(second.url);
      const next = await attachEmbeddedPostgres(folder);
      assert.equal((await query(next.url, 'SELECT 1')).length, 1);
      await next.release();
      await rm(folder, { recursive: true, force: true });
    },
  );
});
