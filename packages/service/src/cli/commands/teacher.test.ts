import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';

const program = fileURLToPath(new URL('../../../bin/engraft.js', import.meta.url));
const model = fileURLToPath(new URL('../../../../../models/base', import.meta.url));

const figures = z.object({ total: z.int(), exact: z.int(), contained: z.int() });
const report = z.object({
  adapter: z.object({ folder: z.string(), contentHash: z.string().startsWith('sha256:') }),
  steps: z.literal(2),
  before: figures,
  after: figures,
});

describe('engraft teacher train', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-teacher-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function train(data: string, ...options: string[]) {
    const args = ['teacher', 'train', '--model', model, '--data', data, '--out', path.join(folder, 'out'), ...options];
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'exit') as Promise<[number]>;
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { status, stdout, stderr };
  }

  const paragraph = (title: string): object => ({
    title,
    context: `The lighthouse of ${title} was built by Ada Kell in 1874.`,
    qas: [
      { q: `Who built the lighthouse of ${title}?`, a: ['Ada Kell'] },
      { q: 'When was it built?', a: ['1874'] },
    ],
  });

  it('trains an adapter from a compressed file, and says what it reads before and after', async () => {
    const data = path.join(folder, 'data.jsonl.gz');
    const lines = Array.from({ length: 60 }, (_, index) => JSON.stringify(paragraph(`Varn ${index}`)));
    await writeFile(data, gzipSync(lines.join('\n')));
    const done = await train(data, '--steps', '2', '--questions', '2', '--json');
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stderr, /^2 of 2 steps, loss [\d.]+, \d+ tokens$/m);
    const { before: first, after: second } = report.parse(JSON.parse(done.stdout));
    assert.deepEqual([first.total, second.total], [2, 2]);
  });

  it('names what is wrong with the data, and exits 1', async () => {
    const bad = path.join(folder, 'bad.jsonl');
    await writeFile(bad, `${JSON.stringify(paragraph('Varn'))}\n{"title": "Orla", "context": "…"}\n`);
    for (const [data, complaint] of [
      [path.join(folder, 'none.jsonl'), /^engraft: .*none\.jsonl cannot be read: ENOENT/],
      [bad, /^engraft: .*bad\.jsonl, line 2, qas: /],
    ] as const) {
      const { status, stderr } = await train(data);
      assert.equal(status, 1);
      assert.match(stderr, complaint);
    }
  });

  it('exits 2 on wrong usage', async () => {
    const { status, stderr } = await train('data.jsonl', '--steps', '0');
    assert.equal(status, 2);
    assert.match(stderr, /--steps must be at least 1/);
  });
});
