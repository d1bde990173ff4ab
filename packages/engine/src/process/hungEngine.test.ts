import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { long, prompt, short } from '../testing/hosts.js';
import { makeNamedPipe, needsNamedPipe } from '../testing/namedPipe.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { startEngineHost } from './engineHost.js';
import type { EngineExit, EngineHost, EngineHostOptions } from './hostTypes.js';

const quick = { silenceMs: 3_000 };

/** Replaces the weights by a pipe that nobody writes to, so that opening it never ends. Returns the file to remove. */
async function replaceWeightsByPipe(folder: string): Promise<string> {
  const [name] = await readdir(join(folder, 'weights'));
  const file = join(folder, 'weights', name!);
  await rm(file);
  makeNamedPipe(file);
  return file;
}

async function withHost(
  options: Partial<EngineHostOptions>,
  use: (host: EngineHost, exits: EngineExit[], folder: string) => Promise<void>,
): Promise<void> {
  await withRandomCheckpoint(
    async (folder) => {
      const cacheFolder = join(folder, 'weights');
      const host = await startEngineHost({ modelDir: join(folder, 'model'), cacheFolder, threads: 1, ...options });
      const exits: EngineExit[] = [];
      host.onExit((exit) => exits.push(exit));
      try {
        await use(host, exits, folder);
      } finally {
        await host.close();
      }
    },
    { max_position_embeddings: 9000 },
  );
}

suite('an engine that hangs', { skip: process.platform === 'win32' }, () => {
  test('is not responsive, is killed, and another takes its place', { timeout: 120_000 }, async () => {
    await withHost({ watch: quick }, async (host, exits) => {
      const expected = await host.generate(short);
      const isResponsive = (): boolean => host.responsive;
      assert.ok(isResponsive());
      const { pid } = host;
      const call = host.generate(long);
      process.kill(pid!, 'SIGSTOP');
      const lost = assert.rejects(call, { name: 'EngineError', code: 'process_lost', message: /no sign of life/ });
      while (isResponsive()) await sleep(20);
      assert.equal(host.pid, pid, 'while it still has a process');
      await lost;
      assert.deepEqual(exits, [{ pid, code: null, signal: 'SIGKILL', purpose: 'serving', reason: 'unresponsive' }]);
      assert.equal((await host.generate(short)).text, expected.text);
      assert.ok(isResponsive());
      assert.notEqual(host.pid, pid);
    });
  });

  test('while it trains is killed, and takes nothing but its session with it', { timeout: 120_000 }, async () => {
    await withHost({ watch: quick }, async (host, exits) => {
      const { pid: servingPid } = host;
      const training = await host.openTraining({ parent: null, rank: 2, alpha: 2, seed: 1 });
      const [pid] = host.trainingPids;
      const batch = [{ sequence: await host.encode(prompt, 'Ada Kell.'), weight: 1 }];
      process.kill(pid!, 'SIGSTOP');
      await assert.rejects(training.step(batch, 1e-2), { code: 'process_lost', message: /no sign of life/ });
      assert.deepEqual(exits, [{ pid, code: null, signal: 'SIGKILL', purpose: 'training', reason: 'unresponsive' }]);
      assert.deepEqual(host.trainingPids, []);
      assert.equal(host.pid, servingPid);
      await host.generate(short);
    });
  });

  test('lets go of a call that is aborted, whose late answer is nobody else’s', { timeout: 120_000 }, async () => {
    await withHost({}, async (host, exits) => {
      const expected = await host.generate(short);
      const { pid } = host;
      process.kill(pid!, 'SIGSTOP');
      const controller = new AbortController();
      const aborted = host.generate(long, { signal: controller.signal });
      const waiting = host.generate({ ...short, maxOutputTokens: 4 });
      // By now both calls have been sent to the process.
      await new Promise(setImmediate);
      controller.abort();
      await assert.rejects(aborted, { name: 'EngineError', code: 'cancelled' });
      process.kill(pid!, 'SIGCONT');
      assert.equal((await waiting).usage.outputTokens, 4);
      assert.deepEqual(await host.generate(short), expected);
      assert.equal(host.pid, pid);
      assert.deepEqual(exits, []);
    });
  });

  test(
    'leaves a training session of which nobody knows whether its step was made: nothing is kept of it',
    { timeout: 60_000 },
    async () => {
      await withHost({}, async (host, _exits, folder) => {
        const session = await host.openTraining({ parent: null, rank: 2, alpha: 2, seed: 1 });
        const sequence = await host.encode({ messages: [{ role: 'user', content: 'Who built it?' }] }, 'Ada Kell');
        await session.step([{ sequence, weight: 1 }], 1e-3);
        const [pid = 0] = host.trainingPids;
        process.kill(pid, 'SIGSTOP');
        const stopping = new AbortController();
        const step = session.step([{ sequence, weight: 1 }], 1e-3, { signal: stopping.signal });
        stopping.abort();
        await assert.rejects(step, { code: 'cancelled' });
        process.kill(pid, 'SIGCONT');
        await assert.rejects(session.snapshot(`${folder}/snapshot`), { code: 'invalid_request', message: /no answer/ });
        await session.close();
      });
    },
  );

  test('ends when it is closed, also while it trains', { timeout: 60_000 }, async () => {
    await withHost({}, async (host, exits) => {
      await host.openTraining({ parent: null, rank: 2, alpha: 2, seed: 1 });
      const pids = [host.pid!, ...host.trainingPids];
      assert.equal(pids.length, 2);
      const call = assert.rejects(host.generate(long), { code: 'cancelled' });
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      await host.close();
      await call;
      for (const pid of pids) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
      assert.deepEqual(exits, []);
    });
  });

  test('is not one that computes for longer than it may be silent', { timeout: 300_000 }, async () => {
    await withHost({ watch: quick }, async (host, exits) => {
      const { pid } = host;
      // Counting a text blocks the thread until it is done.
      for (let length = 100_000, blockedMs = 0; blockedMs < 2 * quick.silenceMs; length *= 2) {
        const content = 'Who built it? '.repeat(length / 10);
        const startedAt = performance.now();
        await host.countTokens({ messages: [{ role: 'user', content }] });
        blockedMs = performance.now() - startedAt;
      }
      assert.deepEqual(exits, []);
      assert.equal(host.pid, pid);
    });
  });

  test('whose calls wait for what never comes has stalled', { timeout: 240_000, ...needsNamedPipe }, async () => {
    const logger = { info: () => undefined, warn: () => undefined };
    await withHost({ weightFormat: 'q8', watch: { idleMs: 8_000 }, logger }, async (host, exits, folder) => {
      const weights = await replaceWeightsByPipe(folder);
      const { pid } = host;
      await assert.rejects(host.generate(short), { code: 'process_lost', message: /made no progress/ });
      assert.deepEqual(exits, [{ pid, code: null, signal: 'SIGKILL', purpose: 'serving', reason: 'stalled' }]);
      await assert.rejects(host.generate(short), { code: 'not_running' }, 'so has one that loads its model');
      await rm(weights);
      while (host.pid === undefined) await sleep(20);
      await host.generate(short);
    });
  });

  test('while it loads its model ends when it is closed', { timeout: 60_000, ...needsNamedPipe }, async () => {
    await withHost({ weightFormat: 'q8' }, async (host, exits, folder) => {
      await replaceWeightsByPipe(folder);
      process.kill(host.pid!, 'SIGKILL');
      while (exits.length === 0) await sleep(20);
      const waiting = assert.rejects(host.generate(short), { code: 'cancelled' });
      await host.close();
      await waiting;
    });
  });
});
