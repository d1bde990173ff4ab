/**
 * Folders that survive a power cut: without a sync of its parent, a new name may be gone after one. Published as
 * `@engraft/engine/synced-folders`, for whoever writes files without a model.
 */
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';

/** Syncs a folder, so that files put into it or renamed in it survive. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export interface MakingFolder {
  /** Permissions of each new folder, as for `mkdir`. */
  readonly mode?: number;
  /** Called when the folders are made, but not yet synced. Not called if all of them existed. */
  readonly onMade?: () => void;
}

/** Makes a folder and the missing ones above it. All of them survive. */
export async function makeSyncedFolder(folder: string, { mode, onMade }: MakingFolder = {}): Promise<void> {
  const first = await mkdir(folder, { recursive: true, ...(mode === undefined ? {} : { mode }) });
  if (first === undefined) return;
  onMade?.();
  const outermost = path.resolve(first);
  for (let made = path.resolve(folder); ; made = path.dirname(made)) {
    await syncFolder(path.dirname(made));
    if (made === outermost || made === path.dirname(made)) return;
  }
}
