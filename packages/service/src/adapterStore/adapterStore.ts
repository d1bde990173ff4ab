import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isAdapterIntact, type AdapterReference } from '@engraft/engine';
import { crashPoint } from '../crashPoints.js';
import { makeSyncedFolder, syncFolder } from '../syncFolder.js';
import { AdapterStoreMissing } from './adapterStoreMissing.js';

/**
 * Holds adapters in `<data>/adapters/sha256-<hex>/`: a folder in PEFT's format named by its content. So it never
 * changes, and nothing is kept twice. The engine checks the content against the name whenever it loads one.
 */
export interface AdapterStore extends LocatedStore {
  /**
   * Copies a finished adapter into the store. When it returns, the adapter survives a power cut; before that, nothing
   * bears its name. Keeping an adapter again changes nothing, even if the original is gone, but replaces a damaged
   * copy. Throws if the original does not fit its hash, and `AdapterStoreMissing`.
   */
  keep(adapter: AdapterReference): Promise<AdapterReference>;
  /**
   * Deletes an adapter. It is gone as a whole from the first moment, and for good when this returns. Returns whether
   * there was one; removing a missing adapter changes nothing. Throws `AdapterStoreMissing` if the store is not there,
   * since the adapter may be.
   */
  remove(adapter_hash: string): Promise<boolean>;
  /**
   * Deletes what interrupted copies and removals left behind, if nothing was added to it for `age_ms`. Returns how many
   * there were.
   */
  removeRemnants(age_ms: number, stopping?: AbortSignal): Promise<number>;
}

/** The place of a store, whether or not it is there. */
export interface LocatedStore {
  readonly home: string;
  /** The adapter with this content, whether or not it is there. */
  readonly locate: (adapter_hash: string) => AdapterReference;
  readonly has: (adapter_hash: string) => Promise<boolean>;
  /** Whether the folder is still the store that was opened. Its file system may no longer be mounted. */
  readonly isPresent: () => Promise<boolean>;
}

/** A file that tells a store from a folder without adapters. */
export const storeMark = '.engraft-adapters';

/** Temporary names of `keep`, `remove` and imports begin like this. No kept adapter has such a name. */
const remnantName = /^\.(keeping|removing|importing)-/;
export const importingPrefix = '.importing-';
const adapterHash = /^sha256:[0-9a-f]{64}$/;

export function locateStore(data_folder: string): LocatedStore {
  const home = path.join(data_folder, 'adapters');
  const locate = (adapter_hash: string): AdapterReference => {
    if (!adapterHash.test(adapter_hash)) throw new Error('an adapter hash is not of the form sha256:<hex>');
    return { folder: path.join(home, adapter_hash.replace(':', '-')), contentHash: adapter_hash };
  };
  return {
    home,
    locate,
    has: (adapter_hash) => exists(locate(adapter_hash).folder),
    isPresent: () => exists(path.join(home, storeMark)),
  };
}

/** Makes missing parts of the store. `findAdapterStore` tells whether it is the right one. */
export async function openAdapterStore(data_folder: string): Promise<AdapterStore> {
  const located = locateStore(data_folder);
  const { home, locate } = located;
  await makeSyncedFolder(home);
  await (await open(path.join(home, storeMark), 'a', 0o600)).close();
  crashPoint('store.marked');
  await syncFolder(home);
  const assertPresent = async (): Promise<void> => {
    if (!(await located.isPresent()))
      throw new AdapterStoreMissing(`the adapters in ${home} are not there: is its file system mounted?`);
  };

  return {
    ...located,
    keep: async (adapter) => {
      await assertPresent();
      const kept = locate(adapter.contentHash);
      if (!(await isAdapterIntact(kept))) await put(home, adapter, kept);
      // Syncs even if another process did the rename, since that process may not have synced yet.
      await syncFolder(home);
      return kept;
    },
    remove: async (adapter_hash) => {
      await assertPresent();
      const { folder } = locate(adapter_hash);
      // Every attempt uses the same name, so the next one removes what a crash left half removed.
      const doomed = path.join(home, `.removing-${path.basename(folder)}`);
      await rm(doomed, { recursive: true, force: true });
      crashPoint('deletion.prepared');
      const was_there = await exists(folder);
      if (was_there) {
        await rename(folder, doomed);
        crashPoint('deletion.renamed');
        // Nobody looks for it again once its removal has been recorded.
        await syncFolder(home);
      }
      await rm(doomed, { recursive: true, force: true });
      crashPoint('deletion.removed');
      return was_there;
    },
    removeRemnants: async (age_ms, stopping) => {
      let removed = 0;
      for (const name of await readdir(home)) {
        if (stopping?.aborted === true) break;
        if (!remnantName.test(name)) continue;
        const remnant = path.join(home, name);
        // Whoever works on it may finish in the meantime.
        const found = await stat(remnant).catch(() => null);
        if (found === null || found.mtimeMs > Date.now() - age_ms) continue;
        await rm(remnant, { recursive: true, force: true });
        crashPoint('remnant.removed');
        removed += 1;
      }
      return removed;
    },
  };
}

/** Writes and syncs the whole adapter under another name first. */
async function put(home: string, adapter: AdapterReference, kept: AdapterReference): Promise<void> {
  const attempt = randomBytes(6).toString('hex');
  const staging = path.join(home, `.keeping-${attempt}`);
  const aside = path.join(home, `.removing-${attempt}`);
  try {
    await copySynced(adapter.folder, staging);
    if (!(await isAdapterIntact({ ...adapter, folder: staging }))) {
      throw new Error(`the adapter in ${adapter.folder} is not ${adapter.contentHash} any more`);
    }
    await giveName(staging, kept, aside);
  } finally {
    for (const passing of [staging, aside]) {
      await rm(passing, { recursive: true, force: true });
      crashPoint('copy.cleaned');
    }
  }
}

const naming_attempts_max = 4;

/** Others may be keeping the same content at this moment. A damaged adapter is moved aside. */
async function giveName(staging: string, kept: AdapterReference, aside: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if ((await exists(kept.folder)) && !(await isAdapterIntact(kept))) {
        await rm(aside, { recursive: true, force: true });
        crashPoint('copy.room_made');
        // For a moment nothing bears the name. What bore it could not be used either.
        await rename(kept.folder, aside);
        crashPoint('copy.damaged_set_aside');
      }
      await rename(staging, kept.folder);
      crashPoint('copy.named');
      return;
    } catch (error) {
      if (await isAdapterIntact(kept)) return;
      if (attempt === naming_attempts_max) throw error;
    }
  }
}

async function copySynced(from: string, to: string): Promise<void> {
  await mkdir(to);
  crashPoint('copy.begun');
  for (const name of await readdir(from)) {
    const copy = path.join(to, name);
    await copyFile(path.join(from, name), copy, constants.COPYFILE_FICLONE);
    await syncFile(copy);
    crashPoint('copy.file_synced');
  }
  await syncFolder(to);
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    () => false,
  );
}
