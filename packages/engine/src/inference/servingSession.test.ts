import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedEngine, type EmbeddedEngineOptions } from '../embeddedEngine.js';
import { Session } from '../onnx/session.js';
import { withScratch } from '../testing/fixtures.js';
import { withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';

const asked = {
  prompt: { messages: [{ role: 'user' as const, content: 'Who built it?' }] },
  adapter: null,
  maxOutputTokens: 12,
  temperature: 0,
};

async function answerOf(options: EmbeddedEngineOptions): Promise<string> {
  const engine = await EmbeddedEngine.open({ threads: 1, ...options });
  try {
    return (await engine.generate(asked)).text;
  } finally {
    await engine.close();
  }
}

test('constants lie in files that nobody else can write, for as long as a session is made', async (t) => {
  await withRandomCheckpoint(async (folder, config) => {
    const scratch = withScratch(t, join(folder, 'scratch'));
    await mkdir(scratch);
    const seen: { readonly folders: string[]; readonly mode: number; readonly files: string[] }[] = [];
    const create = Session.create.bind(Session);
    t.mock.method(Session, 'create', async (...args: Parameters<typeof create>) => {
      const folders = await readdir(scratch);
      const [name = ''] = folders;
      const { mode } = await stat(join(scratch, name));
      seen.push({ folders, mode: mode & 0o777, files: await readdir(join(scratch, name)) });
      return create(...args);
    });
    const engine = await EmbeddedEngine.open({ modelDir: join(folder, 'model'), threads: 1 });
    const adapter = await writeRandomAdapter(join(folder, 'adapter'), config, 1);
    for (const each of [null, adapter]) {
      await engine.generate({ ...asked, adapter: each });
      assert.deepEqual(await readdir(scratch), [], 'nothing of it is left');
    }
    await engine.close();
    assert.equal(seen.length, 2, 'one session with adapters and one without');
    for (const { folders, mode, files } of seen) {
      assert.match(folders.join(), /^engraft-constants\.partial-[0-9a-f-]+$/);
      assert.equal(mode, 0o700);
      const layer = 'model.layers.0.self_attn';
      assert.ok(files.includes(`${layer}.q_proj.weight+${layer}.k_proj.weight+${layer}.v_proj.weight.values`));
      assert.ok(files.includes('model.norm.weight.values'));
    }
  });
});

test('where no file can be written the constants are read into memory, with a warning', async (t) => {
  await withRandomCheckpoint(async (folder) => {
    const modelDir = join(folder, 'model');
    const expected = await answerOf({ modelDir });
    await writeFile(join(folder, 'file'), '');
    withScratch(t, join(folder, 'file'));
    for (const weightFormat of ['f32', 'q8'] as const) {
      const warnings: string[] = [];
      const note = ({ message }: Error): number => warnings.push(message);
      process.on('warning', note);
      const answer = await answerOf({ modelDir, weightFormat });
      await new Promise((resolve) => setImmediate(resolve));
      process.off('warning', note);
      assert.match(warnings.at(-1) ?? '', /in memory twice for a while, as files of them cannot be written: .*file/);
      if (weightFormat === 'f32') assert.equal(answer, expected);
    }
  });
});

test('what an engine that was killed has left is removed, what another one writes is not', async (t) => {
  await withRandomCheckpoint(async (folder) => {
    const scratch = withScratch(t, join(folder, 'scratch'));
    const names = ['engraft-constants.partial-0123456789ab', 'engraft-constants.partial-456789abcdef', 'others'];
    const [dead = '', alive = '', others = ''] = names;
    for (const name of names) await mkdir(join(scratch, name), { recursive: true });
    const yesterday = new Date(Date.now() - 24 * 60 * 60_000);
    for (const name of [dead, others]) await utimes(join(scratch, name), yesterday, yesterday);
    await answerOf({ modelDir: join(folder, 'model') });
    assert.deepEqual((await readdir(scratch)).sort(), [alive, others]);
  });
});

test('a model whose files have changed since it was opened is refused, not mixed with what they hold now', async () => {
  await withRandomCheckpoint(async (folder) => {
    const modelDir = join(folder, 'model');
    const file = join(modelDir, 'model.safetensors');
    const engine = await EmbeddedEngine.open({ modelDir, threads: 1 });
    const bytes = await readFile(file);
    await writeFile(file, bytes);
    const later = new Date(Date.now() + 5000);
    await utimes(file, later, later);
    const refused = {
      name: 'EngineError',
      code: 'checkpoint_invalid',
      message: 'model.safetensors has changed since the model was opened; the engine must be started again',
    };
    await assert.rejects(engine.generate(asked), refused);
    const sequences = [{ tokens: [1, 2, 3], targetStart: 1 }];
    await assert.rejects(engine.score({ sequences, adapter: null, topK: 0 }), refused);
    await assert.rejects(engine.openTraining({ parent: null, rank: 2, alpha: 4, seed: 1 }), refused);
    await engine.close();
  });
});
