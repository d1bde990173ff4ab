import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { assertEnded, killed, long, prompt, short, withHost } from '../testing/hosts.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { startEngineHost } from './engineHost.js';
import type { EngineExit, EngineStart } from './hostTypes.js';

suite('an engine in its own process', () => {
  test('answers as the embedded engine does', async () => {
    await withHost(async (host, folder) => {
      const engine = await EmbeddedEngine.open({ modelDir: join(folder, 'model'), threads: 1 });
      assert.deepEqual(await host.describe(), await engine.describe());
      assert.equal(await host.countTokens(prompt), await engine.countTokens(prompt));
      const example = await host.encode(prompt, 'Ada Kell.');
      assert.deepEqual(example, await engine.encode(prompt, 'Ada Kell.'));
      assert.deepEqual(await host.generate(short), await engine.generate(short));
      const request = { sequences: [example], adapter: null, topK: 2 };
      assert.deepEqual(await host.score(request), await engine.score(request));

      const training = await host.openTraining({ parent: null, rank: 2, alpha: 4, seed: 1 });
      const batch = [{ sequence: example, weight: 1 }];
      const before = await training.evaluate(batch);
      for (let step = 0; step < 5; step += 1) await training.step(batch, 1e-2);
      assert.ok((await training.evaluate(batch)).loss < before.loss);
      const adapter = await training.save(join(folder, 'adapter'));
      const half = await training.save(join(folder, 'half'), 'F16');
      assert.ok(half.sizeBytes < adapter.sizeBytes);
      await training.close();
      await assert.rejects(training.step(batch, 1e-2), { name: 'EngineError', code: 'invalid_request' });
      const adapted = await host.score({ ...request, adapter });
      assert.notDeepEqual(adapted, await host.score(request));
      await engine.close();
    });
  });

  test('forgets what it keeps under a key, and under no other', async () => {
    await withHost(async (host) => {
      const told = { messages: [{ role: 'user' as const, content: 'Ada Kell built it. '.repeat(30) }] };
      const cached = async (isolationKey: string): Promise<number> =>
        (await host.generate({ ...short, prompt: told, isolationKey })).usage.cachedInputTokens;
      assert.deepEqual([await cached('a'), await cached('b')], [0, 0]);
      await host.forgetPrefixes('a');
      assert.ok((await cached('b')) > 0);
      assert.equal(await cached('a'), 0);
      assert.ok((await cached('a')) > 0);
    });
  });

  test('passes typed errors on', async () => {
    await withHost(async (host) => {
      const content = 'x'.repeat(40_000);
      await assert.rejects(host.generate({ ...short, prompt: { messages: [{ role: 'user', content }] } }), {
        name: 'EngineError',
        code: 'context_length_exceeded',
      });
      await assert.rejects(host.generate({ ...short, temperature: -1 }), { code: 'invalid_request' });
      const parameters = { type: 'object', check: () => true };
      const unsendable = { ...prompt, tools: [{ name: 'f', parameters }] };
      await assert.rejects(host.countTokens(unsendable), { name: 'EngineError', code: 'invalid_request' });
      const adapter = { folder: '/nowhere', contentHash: 'sha256:0' };
      await assert.rejects(host.generate({ ...short, adapter }), { code: 'adapter_damaged' });
    });
    await assert.rejects(startEngineHost({ modelDir: '/nowhere' }), {
      name: 'EngineError',
      code: 'checkpoint_invalid',
      message: 'there is no folder /nowhere',
    });
  });

  test('that is killed loses its calls, and another starts without being called', async () => {
    await withHost(async (host) => {
      const exits: EngineExit[] = [];
      host.onExit((exit) => exits.push(exit));
      const starts: EngineStart[] = [];
      host.onStart((start) => starts.push(start));
      const pid = host.pid;
      assert.ok(pid !== undefined);
      const expected = await host.generate(short);
      const call = host.generate(long);
      await sleep(50);
      process.kill(pid, 'SIGKILL');
      await assert.rejects(call, { name: 'EngineError', code: 'process_lost', message: /SIGKILL/ });
      assert.deepEqual(exits, [{ ...killed, pid, purpose: 'serving' }]);
      while (host.pid === undefined || host.pid === pid) await sleep(20);
      const next = host.pid;
      assert.deepEqual(starts, [{ pid: next, purpose: 'serving' }]);
      const again = await host.generate(short);
      assert.equal(again.text, expected.text);
      assert.equal(host.pid, next);
    });
  });

  test('that cannot be started again says so of every call, and starts when it can', async () => {
    await withRandomCheckpoint(async (folder) => {
      const modelDir = join(folder, 'model');
      const logger = { info: () => undefined, warn: () => undefined };
      const host = await startEngineHost({ modelDir, threads: 1, logger });
      try {
        const expected = await host.generate(short);
        const lostProcess = new Promise((resolve) => host.onExit(resolve));
        await rename(modelDir, join(folder, 'away'));
        process.kill(host.pid!, 'SIGKILL');
        await lostProcess;
        await assert.rejects(host.generate(short), { name: 'EngineError', code: 'not_running' });
        const training = host.openTraining({ parent: null, rank: 2, alpha: 2, seed: 1 });
        await assert.rejects(training, { name: 'EngineError', code: 'not_running' });
        assert.deepEqual(host.trainingPids, []);
        await rename(join(folder, 'away'), modelDir);
        for (;;) {
          const again = await host.generate(short).catch(() => null);
          if (again === null) continue;
          assert.equal(again.text, expected.text);
          break;
        }
      } finally {
        await host.close();
      }
    });
  });

  test('tells the logger of its warnings, and of what it cannot write', async () => {
    await withRandomCheckpoint(async (folder) => {
      const told: unknown[] = [];
      const logger = { info: () => undefined, warn: (fields: unknown) => told.push(fields) };
      // A file stands where the folder should be, so quantised weights cannot be kept.
      const cacheFolder = join(folder, 'model', 'config.json');
      const options = { modelDir: join(folder, 'model'), threads: 1, weightFormat: 'q8', cacheFolder, logger } as const;
      const host = await startEngineHost(options);
      try {
        await host.generate(short);
        assert.equal(told.length, 1);
        const { pid, err } = told[0] as { pid: unknown; err: unknown };
        assert.equal(pid, host.pid);
        assert.ok(err instanceof Error && /quantised weights are made at every start.*EEXIST/.test(err.message));
      } finally {
        await host.close();
      }
    });
  });

  test('that dies again and again is started less and less often', async () => {
    await withHost(async (host) => {
      const waits: number[] = [];
      for (let death = 0; death < 3; death += 1) {
        const exit = new Promise((resolve) => host.onExit(resolve));
        process.kill(host.pid!, 'SIGKILL');
        await exit;
        const diedAt = performance.now();
        await host.describe();
        waits.push(performance.now() - diedAt);
      }
      assert.ok(waits[1]! >= 250 && waits[2]! >= 500, `waited ${waits.join(', ')} ms`);
    });
  });

  test('stops a call at the next token when it is aborted', async () => {
    await withHost(async (host) => {
      const [first, second] = [new AbortController(), new AbortController()];
      const cancelled = host.generate(long, { signal: first.signal });
      let hasEnded = false;
      const same = host.generate(long, { signal: second.signal }).finally(() => (hasEnded = true));
      await sleep(100);
      first.abort();
      await assert.rejects(cancelled, { name: 'EngineError', code: 'cancelled' });
      assert.equal(hasEnded, false, 'the same call beside it goes on');
      second.abort();
      await assert.rejects(same, { code: 'cancelled' });
      await host.generate(short);
    });
  });

  test('ends when it is closed, whatever is under way', async () => {
    await withHost(async (host) => {
      await host.openTraining({ parent: null, rank: 2, alpha: 2, seed: 1 });
      const pids = [host.pid!, ...host.trainingPids];
      assert.equal(pids.length, 2);
      const call = assert.rejects(host.generate(long), { code: 'cancelled' });
      await sleep(50);
      const opening = assert.rejects(host.openTraining({ parent: null, rank: 2, alpha: 2, seed: 1 }), {
        code: 'cancelled',
      });
      let opened = false;
      void opening.finally(() => (opened = true));
      await host.close();
      await new Promise((resolve) => setImmediate(resolve));
      assert.ok(opened, 'a process that was still loading has ended, too');
      await Promise.all([call, opening]);
      for (const pid of pids) assertEnded(pid);
      assert.deepEqual(host.trainingPids, []);
      await assert.rejects(host.describe(), { code: 'cancelled' });
    });
  });

  test('ends when its parent is killed', { timeout: 120_000 }, async () => {
    await withRandomCheckpoint(async (folder) => {
      const module = fileURLToPath(new URL('./engineHost.js', import.meta.url));
      const script = `
        import { startEngineHost } from ${JSON.stringify(module)};
        const host = await startEngineHost({ modelDir: ${JSON.stringify(join(folder, 'model'))}, threads: 1 });
        console.log(host.pid);`;
      const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      // The engine process inherits this pipe, which ends when the last process that holds it ends.
      const ended = once(parent.stderr.pipe(process.stderr, { end: false }), 'unpipe');
      const [output] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(output.toString());
      assert.ok(pid > 0);
      parent.kill('SIGKILL');
      await ended;
    });
  });
});
