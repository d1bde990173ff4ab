/** Pulls from a test hub into a cache of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { Patience } from '../hubClient.js';
import type { TryLock } from '../modelLock.js';
import { parseModelName, type ModelName } from '../modelName.js';
import { pullModel, type PullOptions, type PullOutcome, type PullStage } from '../pullModel.js';
import { startTestHub, type TestHub } from './testHub.js';

/** Does not wait between attempts, and waits briefly for a stalled connection. */
export const impatient: Patience = { attempts: 6, pauseMs: () => 0, idleMs: 2_000 };

export interface Bench {
  readonly hub: TestHub;
  readonly cacheFolder: string;
  readonly pull: (name?: string, changes?: Partial<PullOptions>) => Promise<PullOutcome>;
}

export const modelId = 'acme/tiny';

export async function openBench(t: TestContext): Promise<Bench> {
  const hub = await startTestHub();
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-hub-'));
  t.after(async () => {
    await hub.close();
    await rm(folder, { recursive: true });
  });
  const cacheFolder = path.join(folder, 'hub');
  const settings = { endpoint: hub.endpoint, token: null, cacheFolder, offline: false };
  return {
    hub,
    cacheFolder,
    pull: (name = modelId, changes = {}) =>
      pullModel({
        settings,
        name: nameOf(name),
        stages: [everything],
        tryLock: lockInMemory(),
        patience: impatient,
        ...changes,
      }),
  };
}

export function nameOf(text: string): ModelName {
  const name = parseModelName(text);
  if (name === null) throw new Error(`${text} is no name`);
  return name;
}

/** Chooses all files. */
export const everything: PullStage = (_, listing) =>
  Promise.resolve({ kind: 'files', paths: listing.map((file) => file.path) });

/** A lock among those who share it, in one process. */
export function lockInMemory(): TryLock {
  const held = new Set<string>();
  return (file) => {
    if (held.has(file)) return Promise.resolve({ kind: 'taken', owner: 'another' });
    held.add(file);
    const release = (): Promise<void> => {
      held.delete(file);
      return Promise.resolve();
    };
    return Promise.resolve({ kind: 'owned', lock: { release } });
  };
}
