import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ownFile } from '../fileLock/ownedFile.js';

const program = fileURLToPath(new URL('../../bin/engraft.js', import.meta.url));
const modelDir = fileURLToPath(new URL('../../../../models/base', import.meta.url));
const paragraph = {
  title: 'Varn',
  context: 'The tower of Varn was built in 1850 by Ada Kell. It is 30 metres high.',
  qas: [{ q: 'When was the tower of Varn built?', a: ['1850'] }],
};

/** A training of one step; it needs no database. */
describe('engraft teacher train', () => {
  let folder: string;
  let data: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-teacher-'));
    data = path.join(folder, 'paragraphs.jsonl');
    await writeFile(data, JSON.stringify(paragraph));
  });
  after(() => rm(folder, { recursive: true }));

  async function train(out: string, ...more: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
    const needed = ['--model', modelDir, '--data', data, '--out', out, '--steps', '1', '--questions', '0'];
    const args = [program, 'teacher', 'train', ...needed, ...more];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'exit') as Promise<[number]>;
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { status, stdout, stderr };
  }

  it('goes on from an adapter, and refuses a folder that has none', async () => {
    const [first, second, empty] = ['first', 'second', 'empty'].map((name) => path.join(folder, name)) as [
      string,
      string,
      string,
    ];
    const refused = await train(second, '--from', empty);
    assert.deepEqual(refused, { status: 1, stdout: '', stderr: `engraft: --from: ${empty} has no adapter\n` });
    await assert.rejects(stat(second), { code: 'ENOENT' }, 'nothing is begun');

    const answer = z.object({ adapter: z.object({ folder: z.string(), contentHash: z.string() }) });
    const adapterOf = async (out: string, ...more: string[]): Promise<{ folder: string; contentHash: string }> => {
      const { status, stdout, stderr } = await train(out, '--json', ...more);
      assert.equal(status, 0, stderr);
      return answer.parse(JSON.parse(stdout)).adapter;
    };
    const parent = await adapterOf(first);
    assert.equal(parent.folder, path.join(first, 'adapter'));
    const child = await adapterOf(second, '--from', parent.folder);
    assert.notEqual(child.contentHash, parent.contentHash);
  });

  it('has a folder to itself, and says who has it', async () => {
    const out = folder;
    const other = await ownFile(path.join(out, 'train.lock'));
    assert.ok(other.kind === 'owned');
    const { status, stdout, stderr } = await train(out);
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^engraft: --out: another training runs in [^\n]*\n$/);
    for (const part of [out, `process ${process.pid} on `]) assert.ok(stderr.includes(part), stderr);
    await other.lock.release();
    assert.equal((await train(out)).status, 0, 'and is let in when that one ends');
  });
});
