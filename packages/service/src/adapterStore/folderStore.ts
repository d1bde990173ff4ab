import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isAdapterIntact, type AdapterReference } from '@engraft/engine';
import { syncFolder } from '@engraft/engine/synced-folders';
import { crashPoint } from '../crashPoints.js';
import { makeOwnFolder } from '../ownFolder.js';
import { folderNameOf, storeMark, type AdapterStore } from './adapterStore.js';
import { AdapterStoreMissing } from './adapterStoreMissing.js';

/** `<data>/adapters/sha256-<hex>/`. It has no copies: what is borrowed is the adapter itself. */
export interface FolderStore extends AdapterStore, LocatedStore {}

/** Where a store is, whether it is there or not. */
export interface LocatedStore extends Pick<AdapterStore, 'home' | 'has' | 'isPresent'> {
  /** The adapter of this content, whether it is there or not. */
  readonly locate: (adapterHash: string) => AdapterReference;
}

/** How names begin that `keep`, `remove` and imports use on their way; nothing that is kept has one. */
const remnantName = /^\.(keeping|removing|importing)-/;

export function locateStore(dataFolder: string): LocatedStore {
  const home = path.join(dataFolder, 'adapters');
  const locate = (adapterHash: string): AdapterReference => ({
    folder: path.join(home, folderNameOf(adapterHash)),
    contentHash: adapterHash,
  });
  return {
    home,
    locate,
    has: (adapterHash) => exists(locate(adapterHash).folder),
    isPresent: () => exists(path.join(home, storeMark)),
  };
}

/** Makes what is missing of it; see `findAdapterStore` for whether it is the right one. */
export async function openFolderStore(dataFolder: string): Promise<FolderStore> {
  const located = locateStore(dataFolder);
  const { home, locate } = located;
  await makeOwnFolder(home);
  await (await open(path.join(home, storeMark), 'a', 0o600)).close();
  crashPoint('store.marked');
  await syncFolder(home);
  const assertPresent = async (): Promise<void> => {
    if (!(await located.isPresent()))
      throw new AdapterStoreMissing(`the adapters in ${home} are not there: is its file system mounted?`);
  };

  return {
    ...located,
    staging: home,
    isIntact: (adapterHash) => isAdapterIntact(locate(adapterHash)),
    borrow: (adapterHash) => Promise.resolve({ adapter: locate(adapterHash), giveBack: () => undefined }),
    listCopies: () => [],
    dropCopy: () => Promise.resolve(false),
    close: () => Promise.resolve(),
    keep: async (adapter) => {
      await assertPresent();
      const kept = locate(adapter.contentHash);
      if (!(await isAdapterIntact(kept))) await put(home, adapter, kept);
      // Also where another process renamed it, which may not have come to this yet.
      await syncFolder(home);
    },
    remove: async (adapterHash) => {
      await assertPresent();
      const { folder } = locate(adapterHash);
      // The same name at every attempt: what a crash left half removed is removed by the next one.
      const doomed = path.join(home, `.removing-${path.basename(folder)}`);
      await rm(doomed, { recursive: true, force: true });
      crashPoint('deletion.prepared');
      const wasThere = await exists(folder);
      if (wasThere) {
        await rename(folder, doomed);
        crashPoint('deletion.renamed');
        // Nobody would look for it again once its removal has been recorded.
        await syncFolder(home);
      }
      await rm(doomed, { recursive: true, force: true });
      crashPoint('deletion.removed');
      return wasThere;
    },
    removeRemnants: async (ageMs, stopping) => {
      let removed = 0;
      for (const name of await readdir(home)) {
        if (stopping?.aborted === true) break;
        if (!remnantName.test(name)) continue;
        const remnant = path.join(home, name);
        // Another process may be moving it, and finish meanwhile.
        const found = await stat(remnant).catch(() => null);
        if (found === null || found.mtimeMs > Date.now() - ageMs) continue;
        await rm(remnant, { recursive: true, force: true });
        crashPoint('remnant.removed');
        removed += 1;
      }
      return removed;
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

const maxNamingAttempts = 4;

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
      if (attempt === maxNamingAttempts) throw error;
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
