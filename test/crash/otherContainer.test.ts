import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { engraft, environment, program, type ServiceProcess, startService } from './serviceProcess.js';

/** Like another container: process ids and shared memory of its own, the same files and network. */
const apart = ['--pid', '--ipc', '--fork', '--mount-proc', '--kill-child'];

/** Why the kernel gives no such namespaces here, or false. */
function whyNotApart(): string | false {
  const { status, stderr, error } = spawnSync('unshare', [...apart, '--net', 'true'], { encoding: 'utf8' });
  return status === 0 ? false : `no other namespaces can be made here: ${error?.message ?? stderr.trim()}`;
}

describe('a data folder that another container has, too', { skip: whyNotApart() }, () => {
  let dataFolder: string;
  let service: ServiceProcess;
  before(async () => {
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-apart-'));
    service = await startService(dataFolder);
  });
  after(async () => {
    await service.stop();
    await rm(dataFolder, { recursive: true });
  });

  interface Ended {
    readonly status: number | null;
    readonly printed: string;
    readonly complaint: string;
  }

  async function run(command: string, args: readonly string[]): Promise<Ended> {
    const child = spawn(command, args, { env: environment(dataFolder), stdio: ['ignore', 'pipe', 'pipe'] });
    const [printed, complaint, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number | null]>,
    ]);
    return { status, printed, complaint };
  }

  const engraftApart = (...args: string[]): Promise<Ended> =>
    run('unshare', [...apart, process.execPath, program, ...args]);

  const readPostmasterFile = (): Promise<string> =>
    readFile(path.join(dataFolder, 'postgres', 'cluster', 'postmaster.pid'), 'utf8');

  async function admit(name: string): Promise<string[]> {
    const receipts = await Promise.all(
      [1, 2, 3, 4, 5].map((index) =>
        service.client.inferences.create(
          { subject_id: 'anna', messages: [{ role: 'user', content: 'Hello!' }], max_output_tokens: 8 },
          { idempotencyKey: `${name}-${index}` },
        ),
      ),
    );
    return receipts.map(({ id }) => id);
  }

  it('loses no receipt to a command there: "commands that meet a running service use its database"', async () => {
    const beforeCommand = await admit('before-the-command');
    const server = await readPostmasterFile();
    const { status, printed, complaint } = await engraftApart('balance', '--project', 'default', '--json');
    assert.equal(status, 0, complaint);
    assert.ok('available_microusd' in (JSON.parse(printed) as object));
    assert.equal(await readPostmasterFile(), server, 'the server is still the one that was there');
    const ids = [...beforeCommand, ...(await admit('after-the-command'))];
    assert.equal(await service.stop(), 0);
    service = await startService(dataFolder);
    const jobs = await Promise.all(ids.map((id) => service.client.jobs.wait(id)));
    assert.deepEqual(new Set(jobs.map(({ status: ended }) => ended)), new Set(['succeeded']));
    assert.equal(((await engraft(dataFolder, 'ledger', 'verify')) as { ok: boolean }).ok, true);
  });

  it('has one service: "a second owner refuses by name"', async () => {
    const server = await readPostmasterFile();
    const wanted = /the data folder \S+ belongs to a service that runs already \(process \d+ on .+, since .+\): stop/;
    for (const second of [
      await engraftApart('serve', '--port', '0'),
      await run(process.execPath, [program, 'serve', '--port', '0']),
    ]) {
      assert.equal(second.status, 1);
      assert.ok(second.complaint.includes(dataFolder), second.complaint);
      assert.match(second.complaint, wanted);
      assert.equal(second.printed, '');
    }
    assert.equal(await readPostmasterFile(), server);
    assert.equal((await admit('beside-a-second-owner')).length, 5);
  });

  it('leaves a server alone that only the other container can reach, and says so', async () => {
    // A network of its own, too: the loopback is then another one.
    const { status, complaint } = await run('unshare', [
      ...apart,
      '--net',
      process.execPath,
      program,
      'balance',
      '--project',
      'default',
    ]);
    assert.equal(status, 1);
    assert.match(complaint, /the database of \S+ runs where it cannot be reached from here/);
    assert.equal((await admit('beside-another-network')).length, 5);
  });
});
