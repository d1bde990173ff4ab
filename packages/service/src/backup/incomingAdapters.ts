import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { adapterFiles, isAdapterIntact } from '@engraft/engine';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import { makeOwnFolder } from '../ownFolder.js';
import { BackupError } from './backupError.js';

/** The error for a store that has adapters already. */
export function storeInUse(home: string): BackupError {
  return new BackupError(`${home} has adapters already: a backup is restored into a bucket or prefix of its own`);
}

/** Receives adapters file by file, and puts each into the store when its last file has come. */
export class IncomingAdapters {
  readonly #damaged: string[] = [];
  readonly #kept: string[] = [];

  /** @param folder that files are put into first. Nothing else is in it. */
  constructor(
    readonly store: AdapterStore,
    readonly folder: string,
  ) {}

  /** Adapters that do not fit their hash. They are not in the store. */
  get damaged(): readonly string[] {
    return this.#damaged;
  }

  /** Those that were put into the store, or may have been. */
  get kept(): readonly string[] {
    return this.#kept;
  }

  async receive(adapterHash: string, name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const folder = path.join(this.folder, adapterHash.replace(':', '-'));
    await makeOwnFolder(folder);
    await pipeline(content, createWriteStream(path.join(folder, name), { flags: 'wx', mode: 0o600 }));
    if (name !== adapterFiles.at(-1)) return;
    const adapter = { folder, contentHash: adapterHash };
    if (await isAdapterIntact(adapter)) {
      // It may be another installation's: what fails later would delete it.
      if (await this.store.has(adapterHash)) throw storeInUse(this.store.home);
      this.#kept.push(adapterHash);
      await this.store.keep(adapter);
    } else this.#damaged.push(adapterHash);
    await rm(folder, { recursive: true });
  }
}
