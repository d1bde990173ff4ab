import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openTestDatabase, type TestDatabase } from '../../testing/testDatabase.js';

const program = fileURLToPath(new URL('../../../bin/engraft.js', import.meta.url));
const root = fileURLToPath(new URL('../../../../..', import.meta.url));

describe('`engraft quickstart`, told to stop', () => {
  let database: TestDatabase;
  let dataFolder: string;
  before(async () => {
    database = await openTestDatabase();
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-interrupted-'));
  });
  after(async () => {
    await database.close();
    await rm(dataFolder, { recursive: true });
  });

  interface Interrupted {
    readonly status: number | null;
    readonly said: string;
    readonly shown: string;
  }

  /** As a terminal does it: the signal goes to the command and to what it has started. */
  const interruptAt = (moment: RegExp): Promise<Interrupted> =>
    tellAt(moment, [program, 'quickstart'], (group) => process.kill(-group, 'SIGINT'));

  async function tellAt(
    moment: RegExp,
    command: readonly string[],
    tell: (group: number) => unknown,
  ): Promise<Interrupted> {
    const child = spawn(process.execPath, [...command, '--data', dataFolder], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATABASE_URL: database.url },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const group = child.pid;
    assert.ok(group !== undefined);
    const said = text(child.stderr);
    const left = once(child, 'exit') as Promise<[number | null]>;
    let shown = '';
    let isTold = false;
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      shown += chunk;
      if (isTold || !moment.test(shown)) return;
      isTold = true;
      tell(group);
    });
    const [status] = await left;
    // A command that is killed stops nothing.
    if (status === null) process.kill(-group, 'SIGKILL');
    // Standard error is the service's, too: it ends once both have ended.
    return { status, said: await said, shown };
  }

  const remains = (): string => `what is in ${dataFolder} remains`;

  it('says in one line that the service is stopped and what remains, and exits with 130', async () => {
    const { status, said, shown } = await interruptAt(/Service at .*\n/);
    // The service may log a question that it refused, as it was told to stop.
    const ofCommand = said.split('\n').filter((line) => !line.startsWith('{'));
    const stopped = 'the service that this command had started is stopped';
    assert.deepEqual(ofCommand, [`engraft: interrupted: ${stopped}; ${remains()}`, '']);
    assert.equal(status, 130);
    const [, url = ''] = /Service at (\S+)/.exec(shown) ?? [];
    await assert.rejects(fetch(`${url}/healthz`));
    assert.match(await readFile(path.join(dataFolder, 'default-key'), 'utf8'), /^engraft_/);
  });

  it('says so, too, while the service starts', async () => {
    const { status, said, shown } = await interruptAt(/Starting/);
    assert.doesNotMatch(shown, /Service at/);
    assert.match(said, /engraft: interrupted: the service [^\n]* is stopped; what is in \S+ remains\n$/);
    assert.equal(status, 130);
  });

  it('names the job that goes on with the next service', async () => {
    const { status, said } = await interruptAt(/^(queued|teaching|scoring|training)$/m);
    assert.match(said, / remains, and job_\S+ goes on when a service is started with it\n$/);
    assert.equal(status, 130);
  });

  const stopped = (name: string): string =>
    `engraft: stopped by ${name}: the service that this command had started is stopped; ${remains()}\n`;

  it('stops its service, too, at a SIGHUP that it alone gets', async () => {
    const { status, said } = await tellAt(/Starting/, [program, 'quickstart'], (pid) => process.kill(pid, 'SIGHUP'));
    assert.ok(said.endsWith(stopped('SIGHUP')), said);
    assert.equal(status, 1);
  });

  it('stops it, too, at a SIGTERM that only `npm run quickstart` gets', async (t) => {
    // A clone with the real script and packages, in which everything is installed and built.
    const clone = await mkdtemp(path.join(tmpdir(), 'engraft-clone-'));
    t.after(() => rm(clone, { recursive: true }));
    for (const name of ['quickstart.mjs', 'lib']) {
      await cp(path.join(root, 'scripts', name), path.join(clone, 'scripts', name), { recursive: true });
    }
    await symlink(path.join(root, 'packages'), path.join(clone, 'packages'));
    await mkdir(path.join(clone, 'node_modules'));
    for (const name of ['scripts/build.mjs', 'package-lock.json', 'node_modules/.package-lock.json']) {
      await writeFile(path.join(clone, name), '');
    }
    const script = path.join(clone, 'scripts', 'quickstart.mjs');
    const { status, said, shown } = await tellAt(/Service at .*\n/, [script], (pid) => process.kill(pid, 'SIGTERM'));
    assert.ok(said.endsWith(stopped('SIGTERM')), said);
    assert.equal(status, 1);
    const [, url = ''] = /Service at (\S+)/.exec(shown) ?? [];
    await assert.rejects(fetch(`${url}/healthz`));
  });
});
