import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readServiceAddress } from '../startup/serviceAddress.js';
import { program, database, environment, engraft, assertFails, open, close } from '../testing/commandTest.js';

before(open);
after(close);

describe('engraft', () => {
  it('explains itself', async () => {
    for (const args of [['--help'], ['key', 'create', '--help']]) {
      const { status, stdout } = await engraft(args);
      assert.equal(status, 0);
      assert.match(stdout, /^Usage: engraft/);
    }
  });

  it('says which Node.js it needs to one that is older, before that fails at an import', async () => {
    const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.4" } })';
    const nodeOptions = `--import=data:text/javascript,${encodeURIComponent(older)}`;
    for (const args of [['--help'], ['doctor']]) {
      const { status, stdout, stderr } = await engraft(args, { NODE_OPTIONS: nodeOptions });
      assert.equal(stderr, 'engraft: Node.js 18.20.4 is too old: 20.19 or later is needed\n');
      assert.equal(stdout, '');
      assert.equal(status, 1);
    }
  });

  // As for another user's folder. A loop of links stops root, too.
  it('does not take a database or key that cannot be read for missing', async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-cli-'));
    t.after(() => rm(folder, { recursive: true }));
    for (const name of ['postgres', 'default-key']) await symlink(name, path.join(folder, name));
    const list = await engraft(['project', 'list', '--data', folder], { DATABASE_URL: '' });
    assert.match(list.stderr, /^engraft: the database in .*postgres cannot be used: ELOOP.*; run engraft as the user/);
    const ask = await engraft(['ask', 'Who?', '--subject', 'anna', '--data', folder]);
    assert.match(ask.stderr, /^engraft: the key in .*default-key cannot be read: ELOOP.* or set ENGRAFT_API_KEY\n$/);
    assert.deepEqual([list.status, ask.status], [1, 1]);
    const hidden = path.join(folder, 'postgres', 'data');
    const unusable = /the data folder .*data \(--data, ENGRAFT_DATA_DIR\) cannot be used: ELOOP/;
    const exported = await engraft(['export', 'subject', 'anna', 'a.tar', '--project', 'acme', '--data', hidden]);
    assert.match(exported.stderr, unusable);
    const doctor = await engraft(['doctor', '--data', hidden], { ENGRAFT_ENGINE: 'off' });
    assert.match(doctor.stdout, unusable);
    assert.deepEqual([exported.status, doctor.status], [1, 1]);
  });

  it('refuses wrong usage with status 2', async () => {
    await assertFails(2, /unknown command/, 'frobnicate');
    await assertFails(2, /unknown option/, 'balance', '--project', 'acme', '--loudly');
    const mistyped = /^error: required option '--subject <subject>' not specified; there is no option '--subjct'$/m;
    await assertFails(2, mistyped, 'ask', 'Who?', '--subjct=anna');
    await assertFails(2, /^error: required option '--subject <subject>' not specified$/m, 'ask', 'Who?', '--json');
    await assertFails(2, /missing required argument/, 'project', 'create');
    await assertFails(2, /--port/, 'serve', '--port', '99999');
    assert.equal((await engraft([])).status, 2);
    const noDatabase = await engraft(['worker'], { DATABASE_URL: '' });
    assert.equal(noDatabase.status, 2);
    assert.match(noDatabase.stderr, /needs DATABASE_URL/);
    const wrongUrl = await engraft(['project', 'list'], { DATABASE_URL: 'postgres://u:p@s:s@localhost:99999/x' });
    assert.equal(wrongUrl.status, 2);
    assert.match(wrongUrl.stderr, /^engraft: DATABASE_URL is not a URL: .*percent-encoded.*\n$/);
    await assertFails(
      2,
      /<name> must have 1 to 128 characters, none of them a control character/,
      'project',
      'create',
      'a\u0001b',
    );
    const ask = ['ask', 'Who?', '--subject', 'anna', '--max-output-tokens', '0'];
    await assertFails(2, /^engraft: --max-output-tokens must be from 1 to 4096, not 0$/m, ...ask);
    const learn = ['learn', 'nowhere.txt', '--subject', 'anna', '--max-cost-usd', '0.5'];
    await assertFails(2, /^engraft: --max-cost-usd must be from 1 to 100 USD, not '0.5'$/m, ...learn);
    const wrongEngine = await engraft(['doctor'], { ENGRAFT_ENGINE: 'steam' });
    assert.equal(wrongEngine.status, 2);
    assert.equal(wrongEngine.stderr, 'engraft: ENGRAFT_ENGINE must be one of embedded, vllm, off\n');
  });

  it('refuses an empty path before it does anything', async () => {
    for (const command of [
      ['backup', ''],
      ['restore', ''],
      ['export', 'subject', 'anna', '', '--project', 'acme'],
      ['import', 'subject', '', '--project', 'acme'],
      ['learn', '', '--subject', 'anna'],
      ['eval', ''],
      ['model', 'import', ''],
      ['model', 'check', ''],
    ])
      await assertFails(2, /^engraft: <(file|model)> must not be empty$/m, ...command);
  });

  const intoFullDisk = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    spawn('sh', ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, program, ...args], {
      env: { ...environment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const fullDisk = { skip: existsSync('/dev/full') ? false : 'there is no /dev/full' };

  it('says in one line that standard output cannot be written, and fails', fullDisk, async () => {
    for (const command of [['project', 'list'], ['--help']]) {
      const child = intoFullDisk(command);
      const [stderr, ended] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      assert.match(stderr, /^engraft: standard output cannot be written: ENOSPC: .*\n$/);
      assert.deepEqual(ended, [1, null]);
    }
  });

  it('serves on with a standard output that cannot be written, and says so', fullDisk, async (t) => {
    const serve = intoFullDisk(['serve', '--port', '0'], { ENGRAFT_ENGINE: 'off' });
    t.after(() => void serve.kill('SIGKILL'));
    let said = '';
    serve.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    const ended = once(serve, 'exit');
    const isSaid = (): boolean => said.includes('engraft: standard output cannot be written: ENOSPC');
    while (serve.exitCode === null && !isSaid()) await sleep(20);
    const url = await readServiceAddress(environment()['ENGRAFT_DATA_DIR'] ?? '');
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    serve.kill('SIGTERM');
    await ended;
    assert.match(said, /"msg":"stopped"/);
    assert.equal(said.match(/standard output/g)?.length, 1, 'once, although two lines are lost');
  });

  it('says in one line that something is not there', async () => {
    const noServer = await engraft(['project', 'list'], { DATABASE_URL: 'postgres://127.0.0.1:1/none' });
    assert.equal(noServer.status, 1);
    assert.match(noServer.stderr, /^engraft: .*DATABASE_URL cannot be used: .*ECONNREFUSED.*\n$/);
    const noEngine = await engraft(['serve', '--port', '0'], { ENGRAFT_ENGINE: 'vllm' });
    assert.equal(noEngine.status, 2);
    assert.equal(noEngine.stderr, 'engraft: ENGRAFT_VLLM_URL is needed with ENGRAFT_ENGINE=vllm\n');
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
      assert.match(
        refused.stderr,
        new RegExp(`text.txt has ${length} characters, and a passage must have 20 to 16000`),
      );
    }
    const noService = await engraft(['ask', 'Who?', '--subject', 'anna'], key);
    assert.equal(noService.status, 1);
    assert.match(
      noService.stderr,
      /^engraft: no answer from http:\/\/127\.0\.0\.1:1: .*; `engraft serve` starts a service.*\n$/,
    );
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
});
