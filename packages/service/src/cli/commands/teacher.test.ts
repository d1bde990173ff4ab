import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { ownFile } from '../../fileLock/ownedFile.js';

const program = fileURLToPath(new URL('../../../bin/engraft.js', import.meta.url));
const model = fileURLToPath(new URL('../../../../../models/base', import.meta.url));

const figures = z.object({ total: z.int(), exact: z.int(), contained: z.int() });
const report = z.object({
  adapter: z.object({ folder: z.string(), contentHash: z.string().startsWith('sha256:') }),
  steps: z.int(),
  before: figures,
  after: figures,
});

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Needs no database. */
async function engraftTeacher(...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [program, 'teacher', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit') as Promise<[number]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}

function paragraph(title: string): object {
  return {
    title,
    context: `The lighthouse of ${title} was built by Ada Kell in 1874.`,
    qas: [
      { q: `Who built the lighthouse of ${title}?`, a: ['Ada Kell'] },
      { q: 'When was it built?', a: ['1874'] },
    ],
  };
}

describe('engraft teacher', () => {
  let folder: string;
  /** Sixty titles, of which some are kept apart. */
  let data: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-teacher-'));
    data = path.join(folder, 'data.jsonl.gz');
    const lines = Array.from({ length: 60 }, (_, index) => JSON.stringify(paragraph(`Varn ${index}`)));
    await writeFile(data, gzipSync(lines.join('\n')));
  });
  after(() => rm(folder, { recursive: true }));

  function train(out: string, file: string, ...options: readonly string[]): Promise<Ended> {
    return engraftTeacher('train', '--model', model, '--data', file, '--out', path.join(folder, out), ...options);
  }

  async function trained(out: string, ...options: readonly string[]): Promise<z.infer<typeof report>> {
    const { status, stdout, stderr } = await train(out, data, '--steps', '1', '--questions', '0', '--json', ...options);
    assert.equal(status, 0, stderr);
    return report.parse(JSON.parse(stdout));
  }

  it('trains an adapter from a compressed file, and says what it reads before and after', async () => {
    const done = await train('out', data, '--steps', '2', '--questions', '2', '--json');
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stderr, /^2 of 2 steps, loss [\d.]+, \d+ tokens$/m);
    const { before: first, after: second, adapter } = report.parse(JSON.parse(done.stdout));
    assert.deepEqual([first.total, second.total], [2, 2]);
    for (const [options, expected] of [
      [[], first],
      [['--adapter', adapter.folder], second],
    ] as const) {
      const asked = ['measure', '--model', model, '--data', data, '--questions', '2', '--json', ...options];
      assert.deepEqual(JSON.parse((await engraftTeacher(...asked)).stdout), expected, 'measuring finds the same');
    }
  });

  it('goes on from an adapter, and refuses a folder that has none', async () => {
    const empty = path.join(folder, 'empty');
    const complaint = (option: string): Ended => {
      return {
        status: 1,
        stdout: '',
        stderr: `engraft: ${option}: ${empty} has no adapter in PEFT's format (adapter_config.json, adapter_model.safetensors)\n`,
      };
    };
    assert.deepEqual(await train('second', data, '--from', empty), complaint('--from'));
    await assert.rejects(stat(path.join(folder, 'second')), { code: 'ENOENT' }, 'nothing is begun');
    const asked = ['measure', '--model', model, '--data', data, '--adapter', empty];
    assert.deepEqual(await engraftTeacher(...asked), complaint('--adapter'));

    const { adapter: parent } = await trained('first');
    assert.equal(parent.folder, path.join(folder, 'first', 'adapter'));
    const { adapter: child } = await trained('second', '--from', parent.folder);
    assert.notEqual(child.contentHash, parent.contentHash);
  });

  it('has a folder to itself, and says who has it', async () => {
    const other = await ownFile(path.join(folder, 'train.lock'));
    assert.ok(other.kind === 'owned');
    const { status, stdout, stderr } = await train('', data);
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^engraft: --out: another training runs in [^\n]*\n$/);
    for (const part of [folder, `process ${process.pid} on `]) assert.ok(stderr.includes(part), stderr);
    await other.lock.release();
    await trained('');
  });

  it('stops at SIGHUP, and says how to go on', async (t) => {
    const out = path.join(folder, 'hung-up');
    const args = ['train', '--model', model, '--data', data, '--out', out, '--questions', '0'];
    const child = spawn(process.execPath, [program, 'teacher', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    t.after(() => void child.kill('SIGKILL'));
    const said = text(child.stderr);
    const ended = once(child, 'exit');
    while (child.exitCode === null && !existsSync(path.join(out, 'train.lock'))) await sleep(20);
    child.kill('SIGHUP');
    assert.deepEqual(await ended, [1, null], await said);
    assert.match(await said, /^engraft: stopped; the same command goes on from what is in .*hung-up$/m);
  });

  it('refuses a checkpoint that is not there before it makes the folder', async () => {
    const typo = path.join(folder, 'typo');
    const out = path.join(folder, 'of-typo');
    const refused = {
      status: 1,
      stdout: '',
      stderr: `engraft: --model: there is no folder ${typo}\n`,
    };
    const asked = ['--model', typo, '--data', data];
    assert.deepEqual(await engraftTeacher('train', ...asked, '--out', out), refused);
    assert.ok(!existsSync(out), 'nothing is begun');
    assert.deepEqual(await engraftTeacher('measure', ...asked), refused);
  });

  it('names what is wrong with the data, and exits 1', async () => {
    const bad = path.join(folder, 'bad.jsonl');
    await writeFile(bad, `${JSON.stringify(paragraph('Varn'))}\n{"title": "Orla", "context": "…"}\n`);
    for (const [file, complaint] of [
      [path.join(folder, 'none.jsonl'), /^engraft: .*none\.jsonl cannot be read: ENOENT/],
      [bad, /^engraft: .*bad\.jsonl, line 2, qas: /],
    ] as const) {
      const { status, stderr } = await train('out', file);
      assert.equal(status, 1);
      assert.match(stderr, complaint);
    }
  });

  it('exits 2 on wrong usage', async () => {
    const wrong = await train('out', data, '--steps', '0');
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /--steps must be at least 1/);
    const none = await engraftTeacher('measure', '--model', model, '--data', data, '--questions', '0');
    assert.equal(none.status, 2);
    assert.match(none.stderr, /--questions must be at least 1/);
  });
});
