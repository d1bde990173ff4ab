import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { filesIn } from '@engraft/hub/testing/hubFiles.js';
import { startTestHub, type TestHub } from '@engraft/hub/testing/testHub.js';
import { z } from 'zod';

const program = fileURLToPath(new URL('../../../bin/engraft.js', import.meta.url));
const shipped = fileURLToPath(new URL('../../../../../models/base', import.meta.url));

const pulled = z.strictObject({
  name: z.string(),
  revision: z.string(),
  commit: z.string(),
  folder: z.string(),
  size_bytes: z.int(),
  downloaded_bytes: z.int(),
});
const listed = z.array(
  z.strictObject({
    name: z.string(),
    revision: z.string(),
    commit: z.string(),
    folder: z.string(),
    size_bytes: z.int(),
    complete: z.boolean(),
    servable: z.boolean(),
    problem: z.string().nullable(),
  }),
);
const removed = z.strictObject({
  name: z.string(),
  commit: z.string(),
  freed_bytes: z.int(),
  shared_bytes: z.int(),
  other_commits: z.array(z.string()),
});
const checked = z.strictObject({
  architecture: z.string(),
  parameters: z.int(),
  context_length: z.int(),
  memory_bytes: z.int().positive(),
  tokens_per_second: z.strictObject({ training: z.number().positive(), generation: z.number().positive() }),
  seconds_per_1000_chars: z.int().positive(),
  problems: z.array(z.string()),
});

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The commands as a script runs them. They need no database. */
describe('engraft model', () => {
  let hub: TestHub;
  let folder: string;
  before(async () => {
    hub = await startTestHub();
    const files = await filesIn(shipped);
    hub.put('acme/reader', files);
    hub.put('acme/reader', { ...files, 'generation_config.json': '{}' }, 'v1');
    hub.put('acme/other', { ...files, 'config.json': '{"architectures": ["GPT2LMHeadModel"]}' });
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-model-'));
  });
  afterEach(() => (hub.faults.token = null));
  after(async () => {
    await hub.close();
    await rm(folder, { recursive: true });
  });

  const environment = (): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: folder,
    HF_ENDPOINT: hub.endpoint,
    HF_HOME: folder,
    ENGRAFT_DATA_DIR: path.join(folder, 'data'),
  });

  async function engraft(...args: readonly string[]): Promise<Ended> {
    return engraftWith({}, ...args);
  }

  async function engraftWith(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Ended> {
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...environment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'exit') as Promise<[number]>;
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { status, stdout, stderr };
  }

  /** One JSON document on standard output and nothing on standard error. */
  async function json<Value>(schema: z.ZodType<Value>, ...args: readonly string[]): Promise<Value> {
    const { status, stdout, stderr } = await engraft(...args, '--json');
    assert.deepEqual([stderr, status], ['', 0]);
    return schema.parse(JSON.parse(stdout));
  }

  async function assertFails(status: number, message: RegExp, ...args: readonly string[]): Promise<void> {
    const result = await engraft(...args);
    assert.match(result.stderr, message);
    assert.deepEqual([result.stdout, result.status], ['', status]);
    assert.equal(result.stderr.trim().split('\n').length, 1, 'one clear line');
  }

  it('pulls, lists and removes', async () => {
    assert.deepEqual(await json(listed, 'model', 'list'), []);
    const main = await json(pulled, 'model', 'pull', 'acme/reader');
    assert.deepEqual([main.name, main.revision], ['acme/reader', 'main']);
    assert.equal(main.downloaded_bytes, main.size_bytes);
    const old = await json(pulled, 'model', 'pull', 'acme/reader@v1');
    assert.equal(old.downloaded_bytes, 2, 'only what is another file');

    const models = await json(listed, 'model', 'list');
    const state = { name: 'acme/reader', complete: true, servable: true, problem: null };
    for (const { commit, revision, folder: place, size_bytes } of [main, old]) {
      const one = models.find((model) => model.commit === commit);
      assert.deepEqual(one, { ...state, revision, commit, folder: place, size_bytes });
    }
    const lines = (await engraft('model', 'list')).stdout.trim().split('\n');
    assert.equal(lines.length, 2);
    assert.match(lines.join('\n'), /^acme\/reader +main +[0-9a-f]{12} +29\.8 MB +can be served$/m);

    const gone = await json(removed, 'model', 'remove', 'acme/reader@v1');
    assert.deepEqual(gone, {
      name: 'acme/reader',
      commit: old.commit,
      freed_bytes: 2,
      shared_bytes: old.size_bytes - 2,
      other_commits: [main.commit],
    });
    await assertFails(
      1,
      /^engraft: acme\/reader@v1 is not in .*; it has these commits of acme\/reader: /,
      'model',
      'remove',
      'acme/reader@v1',
    );
    const { stdout } = await engraft('model', 'remove', 'acme/reader');
    assert.match(stdout, /^acme\/reader at [0-9a-f]{12} is removed; 29\.8 MB are free again\n$/);
    assert.deepEqual(await json(listed, 'model', 'list'), []);
  });

  it('says in one line why a model is not pulled', async () => {
    const pull = (name: string): readonly string[] => ['model', 'pull', name];
    await assertFails(2, /'reader' is not the name of a model: use ORG\/NAME/, ...pull('reader'));
    const wrong = await engraftWith({ HF_TOKEN: 'two words' }, ...pull('acme/reader'));
    assert.deepEqual(wrong, {
      status: 2,
      stdout: '',
      stderr: 'engraft: HF_TOKEN holds no token: it has a space or a character beyond ASCII\n',
    });
    await assertFails(1, /acme\/none.*check the name/, ...pull('acme/none'));
    await assertFails(1, /^engraft: acme\/other cannot be served: .*GPT2LMHeadModel/, ...pull('acme/other'));
    hub.faults.token = 'hf_secret';
    await assertFails(1, /ask for access at .* make a token at .* set HF_TOKEN/, ...pull('acme/reader'));
    await writeFile(path.join(folder, 'token'), 'hf_secret\n');
    assert.equal((await engraft(...pull('acme/reader'))).status, 0, 'the token of the file is used');
    await rm(path.join(folder, 'token'));
    await engraft('model', 'remove', 'acme/reader');
  });

  it('stops a download at SIGHUP, and says how to go on', async (t) => {
    hub.faults.stalls = () => true;
    const seen = hub.seen.length;
    const child = spawn(process.execPath, [program, 'model', 'pull', 'acme/reader'], {
      env: environment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    t.after(() => {
      hub.faults.stalls = () => false;
      child.kill('SIGKILL');
    });
    const said = text(child.stderr);
    const ended = once(child, 'exit');
    while (child.exitCode === null && hub.seen.length === seen) await sleep(20);
    child.kill('SIGHUP');
    assert.deepEqual(await ended, [1, null]);
    assert.equal(await said, 'engraft: stopped; `engraft model pull acme/reader` goes on where it stopped\n');
  });

  it('lists what is not complete, and what cannot be served', async () => {
    const snapshots = path.join(folder, 'hub', 'models--acme--half', 'snapshots');
    for (const [digit, config] of [
      ['1', await readFile(path.join(shipped, 'config.json'), 'utf8')],
      ['2', '{"architectures": ["GPT2LMHeadModel"]}'],
    ] as const) {
      const snapshot = path.join(snapshots, digit.repeat(40));
      await mkdir(snapshot, { recursive: true });
      await writeFile(path.join(snapshot, 'config.json'), config);
    }
    for (const name of ['tokenizer.json', 'model.safetensors']) {
      await writeFile(path.join(snapshots, '2'.repeat(40), name), '');
    }
    const [half, strange] = await json(listed, 'model', 'list');
    assert.deepEqual([half?.complete, half?.servable], [false, false]);
    assert.equal(half?.problem, 'not complete, without tokenizer.json, model.safetensors');
    assert.deepEqual([strange?.complete, strange?.servable], [true, false]);
    assert.match(strange?.problem ?? '', /^cannot be served: .*GPT2LMHeadModel/);
    await rm(path.join(folder, 'hub'), { recursive: true });
  });

  it('checks what a model takes', async () => {
    const check = await json(checked, 'model', 'check', shipped);
    assert.equal(check.architecture, 'Qwen3ForCausalLM');
    assert.deepEqual(check.problems, []);
    assert.ok(check.memory_bytes > 4 * check.parameters, 'the weights at least');
  });

  it('says what is wrong with a model that cannot be used', async () => {
    const broken = path.join(folder, 'broken');
    await mkdir(broken);
    await writeFile(path.join(broken, 'config.json'), '{"architectures": ["GPT2LMHeadModel"]}');
    const { status, stdout, stderr } = await engraft('model', 'check', broken, '--json');
    assert.equal(status, 1);
    assert.match(stderr, /^engraft: .*broken cannot be used: .*\n$/);
    const document = z.looseObject({ architecture: z.null(), problems: z.array(z.string()).length(1) });
    document.parse(JSON.parse(stdout));
  });

  it('serves no model that was not pulled, and names the command that pulls it', async () => {
    const message =
      /^engraft: acme\/reader is neither a folder nor in .*: `engraft model pull acme\/reader` downloads it$/m;
    await assertFails(1, message, 'serve', '--model', 'acme/reader');
    await assertFails(1, message, 'model', 'check', 'acme/reader');
  });
});
