import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, utimes } from 'node:fs/promises';
import path from 'node:path';
import { isAdapterIntact, type AdapterReference } from '@engraft/engine';
import { crashPoint } from '../../crashPoints.js';
import { folderNameOf, type BorrowedAdapter } from '../adapterStore.js';
import type { CopiesFolder } from './copiesFolder.js';

/** An adapter that its source has, before it is fetched. */
export interface Found {
  readonly bytes: number;
}

/** Where the files of adapters come from. */
export interface AdapterSource<Known extends Found = Found> {
  /** `null`: there is no such adapter. */
  look(adapterHash: string, signal: AbortSignal): Promise<Known | null>;
  /** Writes its files into an empty folder. `false` if there are none, or if they do not have this hash. */
  fetch(adapterHash: string, found: Known, folder: string, signal: AbortSignal): Promise<boolean>;
}

export interface CopiesObserver {
  /** An adapter was asked for; `miss`: its files had to be fetched. */
  readonly asked: (outcome: 'hit' | 'miss') => void;
  /** A copy had to go so that there is room for another. */
  readonly evicted: () => void;
}

interface Copy {
  /** Also while it is being fetched. */
  bytes: number;
  users: number;
  /** Its files are there, and were compared with its name. */
  isWhole: boolean;
  filling: Promise<boolean> | null;
}

export interface CopiesOptions<Known extends Found> {
  readonly folder: CopiesFolder;
  readonly source: AdapterSource<Known>;
  /** More only while more of them are in use. */
  readonly maxBytes: number;
  readonly observer?: CopiesObserver;
}

/**
 * Copies of adapters on this machine, in a folder that no other process uses. A copy is fetched when it is asked for
 * and compared with its name. When there is no room, copies are deleted, the least recently used first, but none in
 * use.
 */
export class AdapterCopies<Known extends Found = Found> {
  /** The least recently used first. */
  readonly #copies = new Map<string, Copy>();
  /** Folders that are being deleted, whose names are not free yet. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  /** The folder may be another process's. */
  #hasLeft = false;

  private constructor(readonly options: CopiesOptions<Known>) {}

  /** Takes over what an earlier process left in the folder. */
  static async open<Known extends Found>(options: CopiesOptions<Known>): Promise<AdapterCopies<Known>> {
    const copies = new AdapterCopies(options);
    for (const { adapter_hash, bytes } of await options.folder.list()) {
      copies.#copies.set(adapter_hash, { bytes, users: 0, isWhole: true, filling: null });
    }
    await copies.#makeRoom();
    return copies;
  }

  get bytes(): number {
    let bytes = 0;
    for (const copy of this.#copies.values()) bytes += copy.bytes;
    return bytes;
  }

  list(): readonly string[] {
    return [...this.#copies.keys()];
  }

  /** Fetches it where it is not there. Where it cannot be had, the folder is missing. */
  async borrow(adapterHash: string, signal?: AbortSignal): Promise<BorrowedAdapter> {
    const copy = this.#take(adapterHash);
    try {
      this.options.observer?.asked(copy.isWhole ? 'hit' : 'miss');
      if (copy.isWhole) await touch(this.#locate(adapterHash).folder);
      else await unlessAborted(this.#fillOnce(adapterHash, copy), signal);
      return { adapter: this.#locate(adapterHash), giveBack: () => void this.#giveBack(adapterHash, copy) };
    } catch (error) {
      await this.#giveBack(adapterHash, copy);
      throw error;
    }
  }

  /** Whether it can be had whole; a copy that is damaged is replaced. */
  async mend(adapterHash: string, signal?: AbortSignal): Promise<boolean> {
    const copy = this.#take(adapterHash);
    try {
      if (copy.isWhole && (await isAdapterIntact(this.#locate(adapterHash)))) return true;
      copy.isWhole = false;
      return await unlessAborted(this.#fillOnce(adapterHash, copy), signal);
    } finally {
      await this.#giveBack(adapterHash, copy);
    }
  }

  /** Makes a copy from `source`, unless there is one, or no room for it to stay. */
  async adopt(adapterHash: string, source: AdapterSource): Promise<void> {
    const found = await source.look(adapterHash, this.#closing.signal);
    this.#closing.signal.throwIfAborted();
    if (found === null || found.bytes > this.options.maxBytes) return;
    const copy = this.#take(adapterHash);
    try {
      if (!copy.isWhole) await this.#fillOnce(adapterHash, copy, source);
    } finally {
      await this.#giveBack(adapterHash, copy);
    }
  }

  /** Unless it is in use. */
  async drop(adapterHash: string): Promise<boolean> {
    const copy = this.#copies.get(adapterHash);
    if (copy === undefined || copy.users > 0 || copy.filling !== null) return false;
    await this.#discard(adapterHash);
    return true;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the store of adapters is closed'));
    const filling = [...this.#copies.values()].flatMap((copy) => (copy.filling === null ? [] : [copy.filling]));
    await Promise.allSettled(filling);
    await Promise.allSettled(this.#leaving.values());
    this.#hasLeft = true;
    await this.options.folder.leave();
  }

  #locate(adapterHash: string): AdapterReference {
    return {
      folder: path.join(this.options.folder.path, folderNameOf(adapterHash)),
      contentHash: adapterHash,
    };
  }

  #take(adapterHash: string): Copy {
    const copy = this.#copies.get(adapterHash) ?? { bytes: 0, users: 0, isWhole: false, filling: null };
    copy.users += 1;
    this.#copies.delete(adapterHash);
    this.#copies.set(adapterHash, copy);
    return copy;
  }

  async #giveBack(adapterHash: string, copy: Copy): Promise<void> {
    copy.users -= 1;
    await this.#tidy(adapterHash, copy);
  }

  /** Called once nobody uses it or waits for it. If this fails, the next that needs the room tries again. */
  async #tidy(adapterHash: string, copy: Copy): Promise<void> {
    if (copy.users > 0 || copy.filling !== null || this.#hasLeft) return;
    await (copy.isWhole ? this.#makeRoom() : this.#discard(adapterHash)).catch(() => undefined);
  }

  /** Whoever asks for the same adapter meanwhile waits for the same files. */
  #fillOnce(adapterHash: string, copy: Copy, source?: AdapterSource): Promise<boolean> {
    const filling = (): Promise<boolean> =>
      source === undefined ? this.#fill(adapterHash, copy, this.options.source) : this.#fill(adapterHash, copy, source);
    const { bytes } = copy;
    copy.filling ??= filling().finally(async () => {
      copy.filling = null;
      // Those of a damaged one, which is still in its place.
      if (!copy.isWhole) copy.bytes = bytes;
      await this.#tidy(adapterHash, copy);
    });
    // The one that waited may have gone.
    copy.filling.catch(() => undefined);
    return copy.filling;
  }

  async #fill<Any extends Found>(adapterHash: string, copy: Copy, source: AdapterSource<Any>): Promise<boolean> {
    const { folder } = this.options;
    const { signal } = this.#closing;
    const found = await source.look(adapterHash, signal);
    signal.throwIfAborted();
    if (found === null) return false;
    copy.bytes = found.bytes;
    await this.#makeRoom();
    const staging = path.join(folder.path, `.fetching-${randomBytes(6).toString('hex')}`);
    await mkdir(staging, { mode: 0o700 });
    crashPoint('copies.fetch_begun');
    try {
      if (!(await source.fetch(adapterHash, found, staging, signal))) return false;
      copy.bytes = await folder.bytesOf(staging);
      await this.#leaving.get(adapterHash)?.catch(() => undefined);
      // One that is damaged may be in its place.
      await folder.discard(adapterHash);
      await rename(staging, this.#locate(adapterHash).folder);
      crashPoint('copies.fetched');
      copy.isWhole = true;
      return true;
    } finally {
      await rm(staging, { recursive: true, force: true });
      crashPoint('copies.cleaned');
    }
  }

  async #makeRoom(): Promise<void> {
    while (this.bytes > this.options.maxBytes) {
      const idle = [...this.#copies].find(([, { users, filling }]) => users === 0 && filling === null);
      if (idle === undefined) return;
      await this.#discard(idle[0]);
      this.options.observer?.evicted();
    }
  }

  /** From this moment nobody finds it. If that fails, its bytes still count, and others go before it is tried again. */
  async #discard(adapterHash: string): Promise<void> {
    const { bytes = 0 } = this.#copies.get(adapterHash) ?? {};
    this.#copies.delete(adapterHash);
    const discard = async (): Promise<void> => {
      try {
        await this.options.folder.discard(adapterHash);
      } catch (error) {
        const staying = { bytes, users: 0, isWhole: false, filling: null };
        if (!this.#copies.has(adapterHash)) this.#copies.set(adapterHash, staying);
        throw error;
      }
    };
    const leaving = discard().finally(() => {
      if (this.#leaving.get(adapterHash) === leaving) this.#leaving.delete(adapterHash);
    });
    this.#leaving.set(adapterHash, leaving);
    await leaving;
  }
}

/** So that the next process finds them in their order. */
async function touch(folder: string): Promise<void> {
  const now = new Date();
  await utimes(folder, now, now).catch(() => undefined);
}

async function unlessAborted<Result>(work: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  const gone = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const leave = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal.addEventListener('abort', leave, { once: true, signal: gone.signal });
  });
  return Promise.race([work, aborted]).finally(() => gone.abort());
}
