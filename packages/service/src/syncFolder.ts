import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { crashPoint } from './crashPoints.js';

/** Syncs a folder, so that files put into it or renamed in it survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a folder, for its owner alone, and missing ones above it. All of them survive a power cut. */
export async function makeSyncedFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  crashPoint('folder.made');
  const outermost = path.resolve(first);
  for (let made = path.resolve(folder); ; made = path.dirname(made)) {
    await syncFolder(path.dirname(made));
    if (made === outermost || made === path.dirname(made)) return;
  }
}
