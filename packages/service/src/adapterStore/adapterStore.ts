import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isAdapterIntact, type AdapterReference } from '@engraft/engine';
import { crashPoint } from '../crashPoints.js';
import { makeSyncedFolder, syncFolder } from '../syncFolder.js';

/**
 * Where adapters live: `<data>/adapters/sha256-<hex>/`, a folder in PEFT's format named by its content, so that it
 * never changes and nothing is kept twice. The engine checks the content against the name whenever it loads one.
 */
export interface AdapterStore {
  /** The adapter of this content, whether it is there or not. */
  locate(adapter_hash: string): AdapterReference;
  has(adapter_hash: string): Promise<boolean>;
  /**
   * Copies a finished adapter into the store. When it returns, the adapter survives a power cut; before that
   * nothing bears its name. Keeping what is already kept changes nothing, even if the original is gone; what is kept
   * and damaged is replaced. Throws when the original is not what it should be.
   */
  keep(adapter: AdapterReference): Promise<AdapterReference>;
  /**
   * Deletes an adapter: whole from the first moment, for whoever looks, and for good when it returns. Whether there
   * was one; removing what is not there changes nothing.
   */
  remove(adapter_hash: string): Promise<boolean>;
  /** Deletes what copies and removals that were cut short left behind, if nothing was added to it for `age_ms`. */
  removeRemnants(age_ms: number): Promise<void>;
}

/** Names that `keep` and `remove` use on their way; nothing that is kept has one. */
const remnantName = /^\.(keeping|removing)-/;
const adapterHash = /^sha256:[0-9a-f]{64}$/;

export async function openAdapterStore(data_folder: string): Promise<AdapterStore> {
  const home = path.join(data_folder, 'adapters');
  await makeSyncedFolder(home);

  const locate = (adapter_hash: string): AdapterReference => {
    if (!adapterHash.test(adapter_hash)) throw new Error('an adapter hash is not of the form sha256:<hex>');
    return { folder: path.join(home, adapter_hash.replace(':', '-')), contentHash: adapter_hash };
  };
  const has = (adapter_hash: string): Promise<boolean> => exists(locate(adapter_hash).folder);

  return {
    locate,
    has,
    keep: async (adapter) => {
      const kept = locate(adapter.contentHash);
      if (!(await isAdapterIntact(kept))) await put(home, adapter, kept);
      // Also where another process renamed it, which may not have come to this yet.
      await syncFolder(home);
      return kept;
    },
    remove: async (adapter_hash) => {
      const { folder } = locate(adapter_hash);
      // The same name at every attempt: what a crash left half removed is removed by the next one.
      const doomed = path.join(home, `.removing-${path.basename(folder)}`);
      await rm(doomed, { recursive: true, force: true });
      crashPoint('deletion.prepared');
      const was_there = await exists(folder);
      if (was_there) {
        await rename(folder, doomed);
        crashPoint('deletion.renamed');
        // Nobody would look for it again once its removal has been recorded.
        await syncFolder(home);
      }
      await rm(doomed, { recursive: true, force: true });
      crashPoint('deletion.removed');
      return was_there;
    },
    removeRemnants: async (age_ms) => {
      for (const name of await readdir(home)) {
        if (!remnantName.test(name)) continue;
        const remnant = path.join(home, name);
        // Whoever was at it may finish meanwhile.
        const found = await stat(remnant).catch(() => null);
        if (found === null || found.mtimeMs > Date.now() - age_ms) continue;
        await rm(remnant, { recursive: true, force: true });
        crashPoint('remnant.removed');
      }
    },
  };
}

/** Whole and synced under another name first. */
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

/** Others may be doing the same at this moment, with the same content. What is damaged is moved aside. */
async function giveName(staging: string, kept: AdapterReference, aside: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if ((await exists(kept.folder)) && !(await isAdapterIntact(kept))) {
        await rm(aside, { recursive: true, force: true });
        crashPoint('copy.room_made');
        // For a moment nothing bears the name; what bore it could not be used either.
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
