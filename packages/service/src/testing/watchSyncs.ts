import { fsyncSync, readdirSync } from 'node:fs';
import { mkdtemp, open, readlink, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';

/** One sync of a file or folder: where it lay, and what a folder held by then. */
export interface SeenSync {
  readonly target: string;
  readonly names: readonly string[];
}

/** Notes the syncs of this process until `stop`, and does them as ever. Linux only. */
export async function watchSyncs(): Promise<{ readonly seen: readonly SeenSync[]; stop(): void }> {
  const seen: SeenSync[] = [];
  const watched = mock.method(await handlePrototype(), 'sync', async function (this: FileHandle) {
    const target = await readlink(`/proc/self/fd/${this.fd}`);
    seen.push({ target, names: namesIn(target) });
    fsyncSync(this.fd);
  });
  return { seen, stop: () => watched.mock.restore() };
}

function namesIn(target: string): readonly string[] {
  try {
    return readdirSync(target);
  } catch {
    return [];
  }
}

async function handlePrototype(): Promise<FileHandle> {
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-syncs-'));
  const handle = await open(path.join(folder, 'file'), 'w');
  await handle.close();
  await rm(folder, { recursive: true });
  return Object.getPrototypeOf(handle) as FileHandle;
}
