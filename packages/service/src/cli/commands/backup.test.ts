import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { job as jobSchema } from '@engraft/contract';
import { z } from 'zod';

const program = fileURLToPath(new URL('../../../bin/engraft.js', import.meta.url));

/** The commands as a script runs them, with embedded databases of their own and the shipped model. */
describe('engraft backup and restore', () => {
  let home: string;
  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'engraft-move-'));
  });
  after(() => rm(home, { recursive: true }));

  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ENGRAFT_LOG_LEVEL: 'error' };

  async function engraft(...args: string[]) {
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'exit') as Promise<[number]>;
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { status, stdout, stderr };
  }

  async function json<Value>(schema: z.ZodType<Value>, ...args: string[]): Promise<Value> {
    const { status, stdout, stderr } = await engraft(...args, '--json');
    assert.deepEqual([status, stderr], [0, '']);
    return schema.parse(JSON.parse(stdout));
  }

  async function serve(t: TestContext, dataFolder: string): Promise<{ stop: () => Promise<void> }> {
    const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--data', dataFolder], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    return {
      stop: async () => {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        assert.deepEqual(await exited, [0, null]);
      },
    };
  }

  const ask = async (dataFolder: string): Promise<unknown> => {
    const question = ['ask', 'Who founded the observatory?', '--subject', 'anna'];
    const { adapter_version, result } = await json(jobSchema, ...question, '--data', dataFolder);
    return { adapter_version, result };
  };

  it('move what was learned to an empty folder, from beside a running service', async (t) => {
    const [dataFolder, moved, file] = [path.join(home, 'data'), path.join(home, 'moved'), path.join(home, 'backup')];
    const service = await serve(t, dataFolder);
    const passage = path.join(home, 'passage.txt');
    await writeFile(
      passage,
      'The Halden Observatory was founded in 1923 by Marta Ilves. Its telescope is called the Grey Heron.',
    );
    const { stdout } = await engraft('learn', passage, '--subject', 'anna', '--json', '--data', dataFolder);
    const learned = jobSchema.parse(JSON.parse(stdout));
    assert.equal(learned.status, 'ready');
    const answer = await ask(dataFolder);

    const report = z.strictObject({
      file: z.literal(file),
      bytes: z.int().positive(),
      sha256: z.string(),
      created_at: z.iso.datetime(),
      rows: z.int().positive(),
      adapters: z.literal(1),
      missing_adapters: z.array(z.string()).max(0),
    });
    const { rows } = await json(report, 'backup', file, '--data', dataFolder);
    await service.stop();

    const refused = await engraft('restore', file, '--data', dataFolder);
    assert.deepEqual([refused.status, refused.stdout], [1, '']);
    assert.match(
      refused.stderr,
      /^engraft: .* is not empty: a backup is restored into a folder of its own \(--data\)\n$/,
    );
    const restored = z.strictObject({
      data_folder: z.literal(moved),
      created_at: z.iso.datetime(),
      rows: z.literal(rows),
      adapters: z.literal(1),
      missing_adapters: z.array(z.string()).max(0),
      migrations: z.array(z.string()).max(0),
      ledger: z.strictObject({ ok: z.literal(true), differences: z.array(z.string()) }),
    });
    await json(restored, 'restore', file, '--data', moved);
    await rm(dataFolder, { recursive: true });

    const second = await serve(t, moved);
    assert.deepEqual(await ask(moved), answer);
    assert.equal((await engraft('ledger', 'verify', '--data', moved)).status, 0);
    await second.stop();
  });

  it('make no database of a folder that was mistyped, nor does any command but serve', async () => {
    const mistyped = path.join(home, 'mistyped');
    for (const command of [
      ['project', 'list'],
      ['project', 'create', 'acme'],
      ['key', 'list', '--project', 'default'],
      ['credit', 'grant', '--project', 'default', '--usd', '1'],
      ['balance', '--project', 'default'],
      ['job', 'resolve', 'job_x', '--release'],
      ['version', 'expire', 'ver_x'],
      ['ledger', 'verify'],
      ['backup', path.join(home, 'nothing')],
    ]) {
      const { status, stdout, stderr } = await engraft(...command, '--data', mistyped);
      assert.deepEqual([status, stdout], [1, ''], command.join(' '));
      assert.match(stderr, /^engraft: there is no database in .*mistyped \(--data, ENGRAFT_DATA_DIR\).*\n$/);
    }
    const doctor = await engraft('doctor', '--data', mistyped);
    assert.match(doctor.stdout, /ok +database +none in .*mistyped yet: `engraft serve` makes one/);
    await assert.rejects(access(mistyped), { code: 'ENOENT' });
    assert.ok(!(await readdir(home)).includes('nothing'));

    const made = await engraft('project', 'create', 'acme', '--new', '--data', path.join(home, 'provisioned'));
    assert.deepEqual([made.status, made.stderr], [0, '']);
    assert.match((await engraft('project', 'list', '--data', path.join(home, 'provisioned'))).stdout, /acme/);
  });
});
