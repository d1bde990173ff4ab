import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { killed, short, withHost } from '../testing/hosts.js';
import { makeMemoryGroup, noMemoryGroup } from '../testing/memoryGroup.js';
import type { EngineExit } from './hostTypes.js';

/** By which Linux chooses whom it kills. */
const scoreOf = (pid: number | 'self'): number => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'));

suite('a machine without memory', { skip: process.platform !== 'linux' }, () => {
  test('kills a training rather than an engine that answers, and either rather than the service', async () => {
    await withHost(async (host) => {
      await host.openTraining({ parent: null, rank: 2, alpha: 2, seed: 1 });
      const [serving, training] = [scoreOf(host.pid!), scoreOf(host.trainingPids[0]!)];
      const own = scoreOf('self');
      assert.deepEqual([serving, training], [Math.min(1_000, own + 200), Math.min(1_000, own + 400)]);
    });
  });

  test('loses the calls of the engine process that the kernel kills, and another takes its place', async (t) => {
    const group = await makeMemoryGroup(2 ** 20);
    if (group === null) {
      t.skip(noMemoryGroup);
      return;
    }
    t.after(() => group.remove());
    await withHost(async (host) => {
      const expected = await host.generate(short);
      const { pid } = host;
      const exit = new Promise<EngineExit>((resolve) => host.onExit(resolve));
      await group.add(pid!);
      const askForEver = async (): Promise<never> => {
        for (;;) await host.generate(short);
      };
      await assert.rejects(askForEver(), { name: 'EngineError', code: 'process_lost' });
      assert.deepEqual(await exit, { ...killed, pid, purpose: 'serving' });
      assert.equal((await host.generate(short)).text, expected.text);
    });
  });
});
