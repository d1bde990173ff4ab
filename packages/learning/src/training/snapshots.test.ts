import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { TrainingSession } from '@engraft/engine';
import fc from 'fast-check';
import { noUsage } from '../budget/meter.js';
import type { ProgressJournal } from '../types.js';
import { notBegun, type TrainingState } from './progress.js';
import { pauseAfterMs, Snapshots } from './snapshots.js';

test('snapshots but for the last take a fiftieth of the time at most, and are seconds apart', () => {
  const step = fc.record({ trainingMs: fc.nat(20_000), snapshotMs: fc.nat(2_000) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 200 }), (steps) => {
      let elapsedMs = 0;
      let dueAtMs = pauseAfterMs(0);
      let costMs = 0;
      let last = { atMs: 0, costMs: 0 };
      for (const { trainingMs, snapshotMs } of steps) {
        elapsedMs += trainingMs;
        if (elapsedMs < dueAtMs) continue;
        assert.ok(elapsedMs - last.atMs >= 5_000);
        assert.ok(costMs <= elapsedMs / 50, `${costMs} of ${elapsedMs} ms`);
        elapsedMs += snapshotMs;
        costMs += snapshotMs;
        last = { atMs: elapsedMs, costMs: snapshotMs };
        dueAtMs = elapsedMs + pauseAfterMs(snapshotMs);
      }
      assert.ok(costMs - last.costMs <= elapsedMs / 50);
    }),
  );
});

test('a snapshot is due after a pause by the clock, and the pause grows with what the last one cost', async () => {
  await withFolder(async (folder) => {
    let nowMs = 1_000;
    const snapshots = new Snapshots(path.join(folder, '1'), keeping([]), { now: () => nowMs });
    const after = (ms: number): boolean => {
      nowMs += ms;
      return snapshots.isDue;
    };
    await snapshots.load('a plan');
    assert.deepEqual([after(4_999), after(1)], [false, true]);
    // Writing takes 400 ms.
    await snapshots.keep(
      sessionThat(async (target) => {
        nowMs += 400;
        await mkdir(target, { recursive: true });
      }),
      stateAt(3),
      noUsage,
    );
    assert.deepEqual([after(19_999), after(1)], [false, true]);
    const without = new Snapshots(path.join(folder, '1'), undefined, { now: () => nowMs });
    await without.load('a plan');
    nowMs += 1e9;
    assert.equal(without.isDue, false, 'nobody keeps progress');
  });
});

test('there are two snapshots at most; what the journal has stays, with its adapter, until the next', async () => {
  await withFolder(async (folder) => {
    const stored: unknown[] = [];
    const snapshots = new Snapshots(path.join(folder, '1'), keeping(stored));
    await snapshots.load('a plan');
    const best = path.join(snapshots.folder, 'step-2');
    await mkdir(best, { recursive: true });
    await snapshots.keep(writing, stateAt(3, best), noUsage);
    // A better one was found; whoever goes on from the snapshot needs the other.
    await snapshots.dropAdapter(best);
    assert.deepEqual(await readdir(snapshots.folder), ['snapshot-3', 'step-2']);
    const better = path.join(snapshots.folder, 'step-4');
    await mkdir(better);
    await snapshots.keep(
      sessionThat(async (target) => {
        await mkdir(target);
        assert.deepEqual(await readdir(snapshots.folder), ['snapshot-3', 'snapshot-5', 'step-2', 'step-4']);
      }),
      stateAt(5, better),
      noUsage,
    );
    assert.deepEqual(await readdir(snapshots.folder), ['snapshot-5', 'step-4']);
    // Nothing new to be kept.
    await snapshots.keep(writing, stateAt(5, better), noUsage);
    assert.equal(stored.length, 2);
    await snapshots.end(better);
    assert.deepEqual(await readdir(snapshots.folder), ['step-4']);
  });
});

test('a run whose journal refuses, as it has lost the job, removes nothing that another goes on from', async () => {
  await withFolder(async (folder) => {
    const stored: unknown[] = [];
    const first = new Snapshots(path.join(folder, '1'), keeping(stored));
    await first.load('a plan');
    await first.keep(writing, stateAt(3), noUsage);
    const refusing: ProgressJournal = {
      load: () => Promise.resolve(stored.at(-1)),
      store: () => Promise.reject(new Error('the lease is lost')),
    };
    const lost = new Snapshots(path.join(folder, '1'), refusing);
    await lost.load('a plan');
    await assert.rejects(lost.keep(writing, stateAt(8), noUsage), /the lease is lost/);
    const next = new Snapshots(path.join(folder, '2'), keeping(stored));
    const progress = await next.load('a plan');
    assert.equal(progress?.snapshot, path.join(folder, '1', 'training', 'snapshot-3'));
    assert.ok((await readdir(first.folder)).includes('snapshot-3'));
    // Nobody owns the other's leftovers beside it.
    await next.clear(progress);
    assert.deepEqual(await readdir(first.folder), ['snapshot-3']);
    await next.keep(writing, stateAt(4), noUsage);
    assert.deepEqual([await readdir(first.folder), await readdir(next.folder)], [[], ['snapshot-4']]);
  });
});

const writing = sessionThat(async (target) => {
  await mkdir(target, { recursive: true });
});

/** A session that is asked for its snapshots only. */
function sessionThat(snapshot: (folder: string) => Promise<void>): TrainingSession {
  const unasked = (): Promise<never> => Promise.reject(new Error('only snapshots are asked for'));
  return { snapshot, step: unasked, evaluate: unasked, save: unasked, close: unasked };
}

function stateAt(steps: number, folder?: string): TrainingState {
  const best = folder === undefined ? null : { devLoss: 1, adapter: { folder, contentHash: 'sha256:0', sizeBytes: 1 } };
  return { ...notBegun, report: { steps, tokens: 10 * steps, final_loss: 1 }, best };
}

/** Keeps all that it is given, as JSON, as a database would. */
function keeping(stored: unknown[]): ProgressJournal {
  return {
    load: () => Promise.resolve(stored.at(-1) ?? null),
    store: (progress) => {
      stored.push(JSON.parse(JSON.stringify(progress)) as unknown);
      return Promise.resolve();
    },
  };
}

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'snapshots-'));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
