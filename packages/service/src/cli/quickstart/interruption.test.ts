import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openTestDatabase, type TestDatabase } from '../../testing/testDatabase.js';

const program = fileURLToPath(new URL('../../../bin/engraft.js', import.meta.url));

describe('`engraft quickstart`, interrupted by Ctrl-C', () => {
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
  async function interruptAt(moment: RegExp): Promise<Interrupted> {
    const child = spawn(process.execPath, [program, 'quickstart', '--data', dataFolder], {
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
      process.kill(-group, 'SIGINT');
    });
    const [status] = await left;
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
});
