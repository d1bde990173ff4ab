import { execFile } from 'node:child_process';
import { mkdtemp, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** A real file system of its own, in memory, that can be filled to the last byte. */
export interface SmallDisk {
  readonly folder: string;
  /** Leaves this many bytes free, rounded to blocks. */
  fill(freeBytes: number): Promise<void>;
  /** Frees what `fill` took. */
  free(): Promise<void>;
  remove(): Promise<void>;
}

const run = promisify(execFile);

/** `null` if this process may not mount one: on another system than Linux, or without the right. */
export async function mountSmallDisk(bytes: number): Promise<SmallDisk | null> {
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', folder]);
  } catch {
    await rm(folder, { recursive: true });
    return null;
  }
  const filler = path.join(folder, 'filler');
  return {
    folder,
    fill: async (freeBytes) => {
      const { bavail, bsize } = await statfs(folder);
      await writeFile(filler, Buffer.alloc(Math.max(0, bavail * bsize - freeBytes)));
    },
    free: () => truncate(filler),
    remove: async () => {
      // Lazily: a process that has just been killed may keep it busy for a moment.
      await run('umount', ['--lazy', folder]);
      await rm(folder, { recursive: true });
    },
  };
}

export const noSmallDisk = 'this process may not mount a file system of its own, so that none can be filled';
