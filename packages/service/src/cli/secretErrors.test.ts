import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/engraft.js', import.meta.url));
const secret = 'pa55word';
const ask = ['ask', 'Who?', '--subject', 'anna'];
/** Nobody listens there. */
const nowhere = '127.0.0.1:1';

describe('a command that fails prints no setting that is secret, however much it is to log', () => {
  let dataFolder: string;
  before(async () => (dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-secrets-'))));
  after(() => rm(dataFolder, { recursive: true }));

  async function assertSecretKept(args: readonly string[], env: NodeJS.ProcessEnv, said: RegExp): Promise<void> {
    const { PATH, HOME } = process.env;
    const settings = { ENGRAFT_DATA_DIR: dataFolder, ENGRAFT_ENGINE: 'off', ENGRAFT_LOG_LEVEL: 'debug' };
    const child = spawn(process.execPath, [program, ...args], {
      env: { PATH, HOME, ...settings, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'exit');
    const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)]);
    assert.notEqual((await ended)[0], 0);
    assert.match(out + error, said);
    assert.ok(!`${out}${error}`.includes(secret), out + error);
  }

  test('a key that no header takes', async () => {
    for (const key of [`${secret}\nX-Other: 1`, `a${secret}\u0142`, `${secret}\r`]) {
      const env = { ENGRAFT_API_KEY: key, ENGRAFT_BASE_URL: `http://${nowhere}` };
      await assertSecretKept(ask, env, /^engraft: the API key cannot be one: .*\n/);
    }
  });

  test('an address of the service with a password in it', async () => {
    const env = { ENGRAFT_API_KEY: 'key-of-a-test', ENGRAFT_BASE_URL: `http://me:${secret}@${nowhere}` };
    await assertSecretKept(ask, env, /^engraft: ENGRAFT_BASE_URL must not hold a user or password/);
  });

  test('an address of the database, whoever fails to read it', async () => {
    for (const [url, said] of [
      [`postgres://me:${secret}@${nowhere}/x`, /the database of DATABASE_URL cannot be used: .*ECONNREFUSED/],
      [`postgres://me:${secret}@host:port/x`, /DATABASE_URL is not a URL/],
      [`mysql://me:${secret}@${nowhere}/x`, /DATABASE_URL must start with/],
      [`postgres://me:${secret}%@${nowhere}/x`, /DATABASE_URL/],
    ] as const) {
      await assertSecretKept(['ledger', 'verify'], { DATABASE_URL: url }, said);
    }
    const unreachable = { DATABASE_URL: `postgres://me:${secret}@${nowhere}/x` };
    for (const args of [['doctor'], ['serve', '--port', '0']]) {
      await assertSecretKept(args, unreachable, /ECONNREFUSED/);
    }
  });
});
