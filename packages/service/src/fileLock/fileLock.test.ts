import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isFileLocked, tryLockFile } from './fileLock.js';

describe('a file lock', () => {
  let folder: string;
  let file: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-lock-'));
    file = path.join(folder, 'lock');
  });
  after(() => rm(folder, { recursive: true }));

  it('is held by one, who may say so in the file, and is free again when it is released', async () => {
    assert.equal(await isFileLocked(file), false);
    const lock = await tryLockFile(file);
    assert.ok(lock !== null);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(await tryLockFile(file), null);
    assert.equal(await isFileLocked(file), true);
    for (const text of ['a long first text', 'mine']) await lock.write(text);
    assert.equal(await readFile(file, 'utf8'), 'mine');
    await lock.release();
    assert.equal(await isFileLocked(file), false);
    const next = await tryLockFile(file);
    assert.ok(next !== null);
    await next.release();
  });

  it('ends with the process that holds it, also when that is killed', async () => {
    const script = `
      import { tryLockFile } from ${JSON.stringify(new URL('fileLock.js', import.meta.url).href)};
      globalThis.lock = await tryLockFile(${JSON.stringify(file)});
      process.stdout.write(String(globalThis.lock !== null));
      setInterval(() => undefined, 1000);`;
    const args = ['--input-type=module', '--eval', script];
    const holder = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    assert.equal(String((await once(holder.stdout, 'data'))[0]), 'true');
    assert.equal(await tryLockFile(file), null);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const lock = await tryLockFile(file);
    assert.ok(lock !== null);
    await lock.release();
  });

  it(
    'is held by a process that inherited it after its starter let go',
    { skip: process.platform === 'win32' },
    async () => {
      const lock = await tryLockFile(file);
      assert.ok(lock !== null);
      const heir = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], {
        stdio: ['ignore', 'ignore', 'ignore', lock.fd],
      });
      await once(heir, 'spawn');
      await lock.release();
      assert.equal(await tryLockFile(file), null);
      heir.kill('SIGKILL');
      await once(heir, 'exit');
      assert.equal(await isFileLocked(file), false);
    },
  );
});
