import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';

const program = fileURLToPath(new URL('../../bin/engraft.js', import.meta.url));

/** The environment of a shell in which somebody works with another server. */
const variables: Readonly<Record<string, string>> = {
  PGSSLMODE: 'verify-full',
  PGSSLNEGOTIATION: 'direct',
  PGOPTIONS: '-c default_transaction_read_only=on',
  PGUSER: 'somebody',
  PGPASSWORD: 'else',
  PGHOST: 'db.example',
  PGPORT: '1',
  PGDATABASE: 'other',
  PGSERVICE: 'none',
  PGAPPNAME: 'psql',
  PGCLIENTENCODING: 'LATIN1',
  PGCLIENT_ENCODING: 'latin1',
  PGREPLICATION: 'true',
  PGDATA: '/nowhere',
  PGTZ: 'Asia/Tokyo',
};

describe("PostgreSQL's variables in the shell", () => {
  let database: TestDatabase;
  let dataFolder: string;
  before(async () => {
    database = await openTestDatabase();
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-variables-'));
  });
  after(async () => {
    await database.close();
    await rm(dataFolder, { recursive: true });
  });

  async function engraft(args: readonly string[], env: NodeJS.ProcessEnv) {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, [program, ...args], {
      env: { PATH, HOME, ENGRAFT_DATA_DIR: dataFolder, ENGRAFT_ENGINE: 'off', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'exit') as Promise<[number]>;
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { status, stdout, stderr };
  }

  test('say nothing to the database of the data folder', async () => {
    const made = await engraft(['project', 'create', 'Zürich', '--new'], variables);
    assert.deepEqual([made.status, made.stderr], [0, '']);
    // By itself the driver refuses it.
    const { PGSSLNEGOTIATION } = variables;
    const listed = await engraft(['project', 'list', '--json'], { PGSSLNEGOTIATION });
    assert.deepEqual([listed.status, listed.stderr], [0, '']);
    assert.match(listed.stdout, /"Zürich"/);
  });

  test('nor to the service that starts it', async (t) => {
    const { PATH, HOME } = process.env;
    const serve = spawn(process.execPath, [program, 'serve', '--port', '0'], {
      env: { PATH, HOME, ENGRAFT_DATA_DIR: dataFolder, ENGRAFT_ENGINE: 'off', ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.after(() => void serve.kill('SIGKILL'));
    const log = text(serve.stderr);
    const ended = once(serve, 'exit');
    const [line] = (await Promise.race([once(serve.stdout, 'data'), ended.then(async () => [await log])])) as [unknown];
    const url = /^engraft listening on (\S+)/.exec(String(line))?.[1];
    assert.ok(url !== undefined, String(line));
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    serve.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  });

  test('keep their meaning for DATABASE_URL, and are named where it cannot be reached', async () => {
    const { url } = database;
    const readOnly = await engraft(['project', 'create', 'acme'], {
      DATABASE_URL: url,
      PGOPTIONS: variables['PGOPTIONS'],
    });
    assert.equal(readOnly.status, 1);
    assert.match(readOnly.stderr, /read-only/);
    const encrypted = await engraft(['project', 'list'], { DATABASE_URL: url, PGSSLMODE: 'require' });
    assert.equal(encrypted.status, 1);
    assert.match(encrypted.stderr, /^engraft: the database of DATABASE_URL, PGSSLMODE cannot be used: .*SSL.*\n$/);
  });
});
