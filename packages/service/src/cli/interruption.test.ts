import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lockSchema } from '../db/migrate.js';
import { withSession } from '../db/session.js';
import { restoringFolder } from '../startup/dataFolder.js';
import { close, database, engraft, environment, open, program } from '../testing/commandTest.js';
import { withEmptyDatabase } from '../testing/emptyDatabase.js';

before(open);
after(close);

/** A command that is under way. */
function begin(t: TestContext, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, args, {
    env: { ...environment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  t.after(() => void child.kill('SIGKILL'));
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (shown += chunk));
  const ended = once(child, 'exit');
  const until = async (isSo: () => boolean): Promise<void> => {
    while (child.exitCode === null && child.signalCode === null && !isSo()) await sleep(10);
  };
  return { child, ended, said: text(child.stderr), until, shows: (line: string) => until(() => shown.includes(line)) };
}

describe('a command that is told to stop', () => {
  const work = fileURLToPath(new URL('../testing/interruptedWork.js', import.meta.url));

  it('cleans up although the signal comes twice, and ends as it says', async (t) => {
    const { child, ended, shows } = begin(t, [work]);
    await shows('working');
    child.kill('SIGTERM');
    await shows('cleaning up');
    child.kill('SIGTERM');
    child.kill('SIGHUP');
    child.stdin.write('\n');
    await shows('Error: stopped by SIGTERM\ndone');
    child.kill('SIGTERM');
    child.stdin.write('\n');
    assert.deepEqual(await ended, [0, null]);
  });

  it('ends at once at a later signal', async (t) => {
    const { child, ended, shows } = begin(t, [work]);
    await shows('working');
    child.kill('SIGINT');
    await shows('cleaning up');
    await sleep(1_200);
    child.kill('SIGINT');
    assert.deepEqual(await ended, [1, null]);
  });

  it('ends at once when its work is done', async (t) => {
    const { child, ended, shows } = begin(t, [work, 'short']);
    await shows('done');
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [143, null]);
  });
});

describe('what a stopped command leaves', () => {
  let home: string;
  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'engraft-stopped-'));
  });
  after(() => rm(home, { recursive: true }));

  it('is no folder of `engraft restore`, even if it is told twice as `timeout` does', async (t) => {
    const [file, folder] = [path.join(home, 'backup'), path.join(home, 'restored')];
    assert.equal((await engraft(['backup', file])).status, 0);
    await withEmptyDatabase(database, async (url) => {
      const restore = await withSession(url, 'test', async (client) => {
        // The restore waits for this lock.
        await client.query('BEGIN');
        await lockSchema(client);
        const begun = begin(t, [program, 'restore', file, '--data', folder], { DATABASE_URL: url });
        await begun.until(() => existsSync(restoringFolder(folder)));
        begun.child.kill('SIGTERM');
        await sleep(100);
        begun.child.kill('SIGTERM');
        return begun;
      });
      assert.deepEqual(await restore.ended, [1, null]);
      assert.equal(await restore.said, 'engraft: stopped by SIGTERM; nothing is left half-done\n');
      assert.ok(!existsSync(folder));
    });
  });

  it('is no file of `engraft eval` without figures', async (t) => {
    const [passages, json, plot] = ['passages.jsonl', 'figures.json', 'chart.svg'].map((name) =>
      path.join(home, name),
    ) as [string, string, string];
    const question = { phrasings: ['Who runs the mill?', 'Whose mill is it?'], answers: ['Anna Berg'] };
    const entry = { id: 'mill', kind: 'product', passage: 'Anna Berg runs the old mill.', questions: [question] };
    await writeFile(passages, JSON.stringify(entry));
    // This file was there, and stays.
    await writeFile(plot, '');
    const begun = begin(t, [program, 'eval', passages, '--gold', '--json', json, '--plot', plot]);
    await begun.until(() => existsSync(json));
    begun.child.kill('SIGTERM');
    assert.deepEqual(await begun.ended, [1, null]);
    assert.equal(await begun.said, 'engraft: stopped before the end; no figures were written\n');
    assert.deepEqual(
      (await readdir(home)).filter((name) => /json$|svg$/.test(name)),
      ['chart.svg'],
    );
  });
});
