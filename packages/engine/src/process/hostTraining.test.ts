import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { constants, getPriority } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TrainingSession } from '../engine.js';
import { assertEnded, killed, long, prompt, withHost } from '../testing/hosts.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { startEngineHost } from './engineHost.js';
import type { EngineExit } from './hostTypes.js';

/** Sixteen layers whose weights are 50 MB, nearly all of them matrices of the feed-forward network. */
const wide = { hidden_size: 256, intermediate_size: 1024, num_hidden_layers: 16 };
const weightBytes = 16 * 3 * 256 * 1024 * 4;

/** The resident memory of a process. */
async function residentBytes(pid: number): Promise<number> {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

suite('an engine in its own process', () => {
  test('goes on with a training that another process began, to the last bit', async () => {
    await withHost(async (host, folder) => {
      const example = await host.encode(prompt, 'Ada Kell.');
      const batch = [{ sequence: example, weight: 1 }];
      const options = { parent: null, rank: 2, alpha: 4, seed: 1, clipNorm: 0.5, weightDecay: 0.1 } as const;
      const steps = async (training: TrainingSession, from: number, to: number): Promise<readonly number[]> => {
        const losses: number[] = [];
        for (let step = from; step < to; step += 1) losses.push((await training.step(batch, 1e-2 / (1 + step))).loss);
        return losses;
      };
      const whole = await host.openTraining(options);
      const losses = await steps(whole, 0, 9);
      const expected = await whole.save(join(folder, 'whole'));
      await whole.close();

      const first = await host.openTraining(options);
      assert.deepEqual(await steps(first, 0, 5), losses.slice(0, 5));
      await first.snapshot(join(folder, 'snapshot'));
      await first.close();
      const other = await startEngineHost({ modelDir: join(folder, 'model'), threads: 1 });
      try {
        const second = await other.openTraining({ resume: join(folder, 'snapshot') });
        assert.deepEqual(await steps(second, 5, 9), losses.slice(5));
        const { contentHash } = await second.save(join(folder, 'resumed'));
        assert.equal(contentHash, expected.contentHash);
      } finally {
        await other.close();
      }
    });
  });

  test('trains in a process of its own, of lower priority, that ends with the session', async () => {
    await withHost(async (host) => {
      const training = await host.openTraining({ parent: null, rank: 2, alpha: 2, seed: 1 });
      const [pid, ...others] = host.trainingPids;
      assert.ok(pid !== undefined && pid !== host.pid);
      assert.deepEqual(others, []);
      // Windows has only a few priority classes, and five steps do not reach the next one.
      const own = getPriority(host.pid);
      const lower = Math.min(constants.priority.PRIORITY_LOW, own + 5);
      assert.equal(getPriority(pid), process.platform === 'win32' ? own : lower);
      await training.close();
      assert.deepEqual(host.trainingPids, []);
      assertEnded(pid);
    });
  });

  test(
    'gives back the weights of scoring when a training reads its own',
    { skip: process.platform !== 'linux' },
    async () => {
      await withRandomCheckpoint(async (folder) => {
        const host = await startEngineHost({ modelDir: join(folder, 'model'), threads: 1 });
        try {
          const sequences = [await host.encode(prompt, 'Ada Kell.')];
          await host.score({ sequences, adapter: null, topK: 1 });
          const scored = await residentBytes(host.pid!);
          await host.openTraining({ parent: null, rank: 2, alpha: 2, seed: 1 });
          const expected = scored - 0.7 * weightBytes;
          // A thread of V8's own gives them back.
          for (let tries = 0; tries < 500 && (await residentBytes(host.pid!)) > expected; tries += 1) await sleep(10);
          assert.ok((await residentBytes(host.pid!)) <= expected);
          await host.score({ sequences, adapter: null, topK: 1 });
        } finally {
          await host.close();
        }
      }, wide);
    },
  );

  test('whose training is killed loses that session and nothing else', async () => {
    await withHost(async (host) => {
      const exits: EngineExit[] = [];
      host.onExit((exit) => exits.push(exit));
      const { pid: servingPid } = host;
      const open = (): Promise<TrainingSession> => host.openTraining({ parent: null, rank: 2, alpha: 2, seed: 1 });
      const [lost, other] = [await open(), await open()];
      const [pid] = host.trainingPids;
      const batch = [{ sequence: await host.encode(prompt, 'Ada Kell.'), weight: 1 }];
      const answer = host.generate({ ...long, maxOutputTokens: 200 });
      process.kill(pid!, 'SIGKILL');
      await assert.rejects(lost.step(batch, 1e-2), { name: 'EngineError', code: 'process_lost' });
      assert.deepEqual(exits, [{ ...killed, pid, purpose: 'training' }]);
      await lost.close();
      assert.ok((await other.step(batch, 1e-2)).loss > 0);
      assert.equal(host.pid, servingPid);
      assert.ok((await answer).usage.outputTokens > 0);
    });
  });

  test('keeps no process of a training that could not be opened', async () => {
    await withHost(async (host) => {
      await assert.rejects(host.openTraining({ parent: null, rank: 0, alpha: 2, seed: 1 }), {
        code: 'invalid_request',
      });
      assert.deepEqual(host.trainingPids, []);
    });
  });

  test('reports a training that is killed while it is opened', async () => {
    await withHost(async (host) => {
      const exits: EngineExit[] = [];
      host.onExit((exit) => exits.push(exit));
      // Drawing so many random numbers takes longer than the signal.
      const opening = host.openTraining({ parent: null, rank: 1024, alpha: 2, seed: 1 });
      while (host.trainingPids.length === 0) await new Promise((resolve) => setImmediate(resolve));
      const [pid] = host.trainingPids;
      process.kill(pid!, 'SIGKILL');
      await assert.rejects(opening, { code: 'process_lost' });
      assert.deepEqual(exits, [{ ...killed, pid, purpose: 'training' }]);
    });
  });
});
