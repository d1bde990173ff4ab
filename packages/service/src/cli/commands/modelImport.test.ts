import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ChatTokenizer } from '@engraft/engine';
import { z } from 'zod';

const program = fileURLToPath(new URL('../../../bin/engraft.js', import.meta.url));
const fixture = fileURLToPath(new URL('../../../../engine/fixtures/gguf/llama.gguf', import.meta.url));

const imported = z.strictObject({
  folder: z.string(),
  architecture: z.literal('LlamaForCausalLM'),
  parameters: z.int(),
  context_length: z.literal(2048),
  tensor_types: z.strictObject({ F32: z.int(), Q4_1: z.literal(14), Q8_0: z.literal(1) }),
  weight_bytes: z.int(),
});

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Needs no database. */
async function modelImport(...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [program, 'model', 'import', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit') as Promise<[number]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}

describe('engraft model import', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-import-'));
    file = path.join(folder, 'some model.gguf');
    await copyFile(fixture, file);
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('makes a folder beside the file that can be served, and says how', async () => {
    const { status, stdout, stderr } = await modelImport(file);
    assert.deepEqual([status, stderr], [0, '']);
    const out = path.join(folder, 'some model');
    const lines = stdout.trim().split('\n');
    assert.match(
      lines[0] ?? '',
      /^some model\.gguf: LlamaForCausalLM, 0\.0 million parameters, 2048 tokens of context$/,
    );
    assert.equal(lines[1], `written: ${out} (1 MB)`);
    assert.equal(lines[2], `serve it: ENGRAFT_MODEL_DIR='${out}' engraft serve`);
    const tokenizer = await ChatTokenizer.load(out);
    assert.ok(tokenizer.countTokens({ messages: [{ role: 'user', content: 'Hello' }] }) > 3);
  });

  it('--json prints one document, --out names the folder, --f16 rounds', async () => {
    const sizes: number[] = [];
    for (const [index, more] of [[], ['--f16']].entries()) {
      const out = path.join(folder, 'below', String(index));
      const { status, stdout, stderr } = await modelImport(file, '--out', out, '--json', ...more);
      assert.deepEqual([status, stderr], [0, '']);
      const model = imported.parse(JSON.parse(stdout));
      assert.equal(model.folder, out);
      sizes.push(model.weight_bytes);
    }
    assert.ok((sizes[1] ?? 0) < 0.65 * (sizes[0] ?? 0), sizes.join());
  });

  it('takes another chat template', async () => {
    const template = path.join(folder, 'template.jinja');
    await writeFile(template, 'Q: {{ messages[0].content }} A:');
    assert.equal((await modelImport(file, '--chat-template', template)).status, 0);
    const written = await readFile(path.join(folder, 'some model', 'chat_template.jinja'), 'utf8');
    assert.equal(written, 'Q: {{ messages[0].content }} A:');
  });

  it('leaves nothing at SIGHUP, which comes twice', async (t) => {
    // A pipe holds the import up until both signals have come.
    const template = path.join(folder, 'template');
    await promisify(execFile)('mkfifo', [template]);
    const args = ['model', 'import', file, '--chat-template', template];
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    t.after(() => void child.kill('SIGKILL'));
    const said = text(child.stderr);
    const ended = once(child, 'exit');
    const held = await open(template, 'w');
    child.kill('SIGHUP');
    await sleep(100);
    child.kill('SIGHUP');
    await held.writeFile('Q: {{ messages[0].content }} A:').finally(() => held.close());
    assert.deepEqual(await ended, [1, null]);
    assert.equal(await said, 'engraft: stopped; nothing was written\n');
    assert.deepEqual(await readdir(folder), ['some model.gguf', 'template']);
  });

  it('makes no folder of the name of the file', async () => {
    const other = path.join(folder, 'weights');
    await copyFile(file, other);
    const { status, stderr } = await modelImport(other);
    assert.equal(
      stderr,
      `engraft: the name of ${other} does not end in .gguf, so --out must name the folder to make\n`,
    );
    assert.equal(status, 2);
    assert.equal((await modelImport(other, '--out', path.join(folder, 'model'))).status, 0);
  });

  it('refuses in one line what it cannot read, and what is there', async () => {
    await writeFile(file, (await readFile(fixture)).subarray(0, 20_000));
    const damaged = await modelImport(file);
    assert.deepEqual([damaged.status, damaged.stdout], [1, '']);
    assert.match(damaged.stderr, /^engraft: some model\.gguf is not a whole GGUF file: .* cut off\n$/);
    const taken = await modelImport(fixture, '--out', folder);
    assert.equal(taken.status, 1);
    assert.match(taken.stderr, /^engraft: .* exists already; name a new folder\n$/);
    assert.equal((await modelImport()).status, 2);
    assert.deepEqual(await readdir(folder), ['some model.gguf']);
  });
});
