import assert from 'node:assert/strict';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withScratch } from '../testing/fixtures.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { startEngineHost } from './engineHost.js';

const asked = {
  prompt: { messages: [{ role: 'user' as const, content: 'Who built it?' }] },
  adapter: null,
  maxOutputTokens: 2,
  temperature: 0,
};

test('the host removes the weights that an engine has left which was killed while it made a session', async (t) => {
  await withRandomCheckpoint(
    async (folder) => {
      const scratch = withScratch(t, join(folder, 'scratch'));
      await mkdir(scratch);
      const host = await startEngineHost({ modelDir: join(folder, 'model'), threads: 1 });
      try {
        const { pid } = host;
        const ended: unknown[] = [];
        const answer = host.generate(asked).then(
          (result) => ended.push(result),
          (error: unknown) => ended.push(error),
        );
        while (ended.length === 0 && (await readdir(scratch)).length === 0) await new Promise(setImmediate);
        // If a busy machine makes this too late, the files are gone already, and the test passes.
        process.kill(pid!, 'SIGKILL');
        await answer;
        // A call to the next engine would remove the files, too, so this test makes none.
        for (let tries = 0; tries < 1000 && (await readdir(scratch)).length > 0; tries += 1) await sleep(10);
        assert.deepEqual(await readdir(scratch), []);
      } finally {
        await host.close();
      }
    },
    // So many layers make so many files that writing them takes a while.
    { num_hidden_layers: 24 },
  );
});
