import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { markProgress, progressMarks } from './progress.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';

const module = JSON.stringify(new URL('./progress.js', import.meta.url).href);

/** Runs the script in a thread and returns the message that it posts. */
async function fromThread(script: string): Promise<unknown> {
  const thread = new Worker(`import(${module}).then(({ markProgress, progressMarks }) => { ${script} });`, {
    eval: true,
  });
  const [message] = (await once(thread, 'message')) as [unknown];
  await thread.terminate();
  return message;
}

const post = "require('node:worker_threads').parentPort.postMessage(progressMarks());";

suite('progress', () => {
  test('is that of all threads', async () => {
    const before = progressMarks();
    assert.equal(await fromThread(`markProgress(); markProgress(); ${post}`), before + 2);
    assert.equal(progressMarks(), before + 2);
    markProgress();
    assert.equal(await fromThread(post), before + 3);
  });

  test('is marked by every run of a generation and of a training', async () => {
    await withRandomCheckpoint(async (folder) => {
      const engine = await EmbeddedEngine.open({ modelDir: join(folder, 'model'), threads: 1 });
      const prompt = { messages: [{ role: 'user' as const, content: 'Who built it?' }] };
      let before = progressMarks();
      const { usage } = await engine.generate({ prompt, adapter: null, maxOutputTokens: 8, temperature: 0 });
      assert.ok(progressMarks() - before >= usage.outputTokens);

      const training = await engine.openTraining({ parent: null, rank: 2, alpha: 2, seed: 1 });
      const batch = [{ sequence: await engine.encode(prompt, 'Ada Kell.'), weight: 1 }];
      before = progressMarks();
      await training.step(batch, 1e-2);
      assert.ok(progressMarks() > before);
      await engine.close();
    });
  });
});
