import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { adapterFiles } from '@engraft/engine';
import { crashPoint } from '../../crashPoints.js';
import { tryLockFile } from '../../fileLock/fileLock.js';
import { makeOwnFolder } from '../../ownFolder.js';
import { folderNameOf } from '../adapterStore.js';

/** A folder of copies of adapters that this process alone uses. */
export interface CopiesFolder {
  readonly path: string;
  /** Lists the copies that an earlier process left, the least recently used first. */
  list(): Promise<readonly { readonly adapter_hash: string; readonly bytes: number }[]>;
  /** The bytes of an adapter's files. */
  bytesOf(folder: string): Promise<number>;
  /** Deletes an adapter: whole from the first moment. Deleting what is not there changes nothing. */
  discard(adapterHash: string): Promise<void>;
  /** Lets others use it. */
  leave(): Promise<void>;
}

/** Processes on one data folder: services, and commands beside them. */
const maxFolders = 100;

/**
 * The first folder of `<data>/adapter-copies/` that no process uses: `0`, `1` and so on. What a service had there, the
 * next one finds; what a further process had goes with it, or when the next process starts if it was killed.
 */
export async function openCopiesFolder(dataFolder: string): Promise<CopiesFolder> {
  const home = path.join(dataFolder, 'adapter-copies');
  await makeOwnFolder(home);
  for (let number = 0; number < maxFolders; number += 1) {
    const lock = await tryLockFile(path.join(home, `${number}.lock`));
    if (lock === null) continue;
    const folder = path.join(home, String(number));
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      crashPoint('copies.folder_made');
      await removePassing(folder);
    } catch (error) {
      await lock.release();
      throw error;
    }
    await removeAbandoned(home);
    return copiesFolder(folder, async () => {
      try {
        if (number > 0) await removeFolder(folder);
      } finally {
        await lock.release();
      }
    });
  }
  throw new Error(`${home} is used by ${maxFolders} processes already`);
}

function copiesFolder(folder: string, leave: () => Promise<void>): CopiesFolder {
  const bytesOf = async (adapter: string): Promise<number> => {
    const files = await Promise.all(adapterFiles.map((name) => stat(path.join(adapter, name))));
    return files.reduce((sum, { size }) => sum + size, 0);
  };
  return {
    path: folder,
    bytesOf,
    list: async () => {
      const names = (await readdir(folder)).filter((name) => /^sha256-[0-9a-f]{64}$/.test(name));
      const found = await Promise.all(
        names.map(async (name) => {
          const adapter = path.join(folder, name);
          // A file of it that is missing has no bytes; whoever loads the adapter finds that out.
          const bytes = await bytesOf(adapter).catch(() => 0);
          return { adapter_hash: name.replace('-', ':'), bytes, used_ms: (await stat(adapter)).mtimeMs };
        }),
      );
      return found.sort((a, b) => a.used_ms - b.used_ms);
    },
    discard: async (adapterHash) => {
      const doomed = path.join(folder, `.removing-${randomBytes(6).toString('hex')}`);
      try {
        await rename(path.join(folder, folderNameOf(adapterHash)), doomed);
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
        throw error;
      }
      crashPoint('copies.set_aside');
      await rm(doomed, { recursive: true, force: true });
      crashPoint('copies.removed');
    },
    leave,
  };
}

/** Removes the files that a process was about to fetch or to remove when it died. */
async function removePassing(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith('.')) await rm(path.join(folder, name), { recursive: true, force: true });
  }
  crashPoint('copies.passing_removed');
}

/**
 * Removes the folders of further processes that were killed. It holds each one's lock, so nobody begins there. A folder
 * that another user left stays: it is no reason not to start.
 */
async function removeAbandoned(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (/^[1-9]\d*$/.test(name)) await removeUnlessLocked(path.join(home, name)).catch(() => undefined);
  }
}

async function removeUnlessLocked(folder: string): Promise<void> {
  const lock = await tryLockFile(`${folder}.lock`);
  if (lock !== null) await removeFolder(folder).finally(() => lock.release());
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  crashPoint('copies.left');
}
