import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, utimes } from 'node:fs/promises';
import path from 'node:path';
import { isAdapterIntact, type AdapterReference } from '@engraft/engine';
import { crashPoint } from '../../crashPoints.js';
import { folderNameOf, type BorrowedAdapter } from '../adapterStore.js';
import type { CopiesFolder } from './copiesFolder.js';

/** What is known of an adapter before it is fetched. */
export interface Found {
  readonly bytes: number;
}

/** Where the files of adapters come from. */
export interface AdapterSource<Known extends Found = Found> {
  /** `null`: there is no such adapter. */
  look(adapter_hash: string, signal: AbortSignal): Promise<Known | null>;
  /** Writes its files into an empty folder. `false`: there are none, or others than those of this name. */
  fetch(adapter_hash: string, found: Known, folder: string, signal: AbortSignal): Promise<boolean>;
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
  is_whole: boolean;
  filling: Promise<boolean> | null;
}

export interface CopiesOptions<Known extends Found> {
  readonly folder: CopiesFolder;
  readonly source: AdapterSource<Known>;
  /** More only while more of them are in use. */
  readonly bytes_max: number;
  readonly observer?: CopiesObserver;
}

/**
 * Copies of adapters on this machine, in a folder that no other process uses: fetched when they are asked for, compared
 * with their names, and deleted when there is no room for them, the least recently used first. None in use is deleted.
 */
export class AdapterCopies<Known extends Found = Found> {
  /** The least recently used first. */
  readonly #copies = new Map<string, Copy>();
  /** Folders that are being deleted, whose names are not free yet. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  /** The folder may be another process's. */
  #has_left = false;

  private constructor(readonly options: CopiesOptions<Known>) {}

  /** Takes over what an earlier process left in the folder. */
  static async open<Known extends Found>(options: CopiesOptions<Known>): Promise<AdapterCopies<Known>> {
    const copies = new AdapterCopies(options);
    for (const { adapter_hash, bytes } of await options.folder.list()) {
      copies.#copies.set(adapter_hash, { bytes, users: 0, is_whole: true, filling: null });
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
  async borrow(adapter_hash: string, signal?: AbortSignal): Promise<BorrowedAdapter> {
    const copy = this.#take(adapter_hash);
    try {
      this.options.observer?.asked(copy.is_whole ? 'hit' : 'miss');
      if (copy.is_whole) await touch(this.#locate(adapter_hash).folder);
      else await unlessAborted(this.#fillOnce(adapter_hash, copy), signal);
      return { adapter: this.#locate(adapter_hash), giveBack: () => void this.#giveBack(adapter_hash, copy) };
    } catch (error) {
      await this.#giveBack(adapter_hash, copy);
      throw error;
    }
  }

  /** Whether it can be had whole; a copy that is damaged is replaced. */
  async mend(adapter_hash: string, signal?: AbortSignal): Promise<boolean> {
    const copy = this.#take(adapter_hash);
    try {
      if (copy.is_whole && (await isAdapterIntact(this.#locate(adapter_hash)))) return true;
      copy.is_whole = false;
      return await unlessAborted(this.#fillOnce(adapter_hash, copy), signal);
    } finally {
      await this.#giveBack(adapter_hash, copy);
    }
  }

  /** Fetches it from elsewhere, unless it is there, or could not stay. */
  async adopt(adapter_hash: string, source: AdapterSource): Promise<void> {
    const found = await source.look(adapter_hash, this.#closing.signal);
    if (found === null || found.bytes > this.options.bytes_max) return;
    const copy = this.#take(adapter_hash);
    try {
      if (!copy.is_whole) await this.#fillOnce(adapter_hash, copy, source);
    } finally {
      await this.#giveBack(adapter_hash, copy);
    }
  }

  /** Unless it is in use. */
  async drop(adapter_hash: string): Promise<boolean> {
    const copy = this.#copies.get(adapter_hash);
    if (copy === undefined || copy.users > 0 || copy.filling !== null) return false;
    await this.#discard(adapter_hash);
    return true;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the store of adapters is closed'));
    const filling = [...this.#copies.values()].flatMap((copy) => (copy.filling === null ? [] : [copy.filling]));
    await Promise.allSettled(filling);
    await Promise.allSettled(this.#leaving.values());
    this.#has_left = true;
    await this.options.folder.leave();
  }

  #locate(adapter_hash: string): AdapterReference {
    return {
      folder: path.join(this.options.folder.path, folderNameOf(adapter_hash)),
      contentHash: adapter_hash,
    };
  }

  #take(adapter_hash: string): Copy {
    const copy = this.#copies.get(adapter_hash) ?? { bytes: 0, users: 0, is_whole: false, filling: null };
    copy.users += 1;
    this.#copies.delete(adapter_hash);
    this.#copies.set(adapter_hash, copy);
    return copy;
  }

  async #giveBack(adapter_hash: string, copy: Copy): Promise<void> {
    copy.users -= 1;
    await this.#tidy(adapter_hash, copy);
  }

  /** Once nobody uses it or waits for it. What failed here is tried again by whoever needs the room. */
  async #tidy(adapter_hash: string, copy: Copy): Promise<void> {
    if (copy.users > 0 || copy.filling !== null || this.#has_left) return;
    await (copy.is_whole ? this.#makeRoom() : this.#discard(adapter_hash)).catch(() => undefined);
  }

  /** Whoever asks for the same adapter meanwhile waits for the same files. */
  #fillOnce(adapter_hash: string, copy: Copy, source?: AdapterSource): Promise<boolean> {
    const filling = (): Promise<boolean> =>
      source === undefined
        ? this.#fill(adapter_hash, copy, this.options.source)
        : this.#fill(adapter_hash, copy, source);
    const { bytes } = copy;
    copy.filling ??= filling().finally(async () => {
      copy.filling = null;
      // Those of a damaged one, which is still in its place.
      if (!copy.is_whole) copy.bytes = bytes;
      await this.#tidy(adapter_hash, copy);
    });
    // Whoever waited may have gone.
    copy.filling.catch(() => undefined);
    return copy.filling;
  }

  async #fill<Any extends Found>(adapter_hash: string, copy: Copy, source: AdapterSource<Any>): Promise<boolean> {
    const { folder } = this.options;
    const { signal } = this.#closing;
    const found = await source.look(adapter_hash, signal);
    if (found === null) return false;
    copy.bytes = found.bytes;
    await this.#makeRoom();
    const staging = path.join(folder.path, `.fetching-${randomBytes(6).toString('hex')}`);
    await mkdir(staging, { mode: 0o700 });
    crashPoint('copies.fetch_begun');
    try {
      if (!(await source.fetch(adapter_hash, found, staging, signal))) return false;
      copy.bytes = await folder.bytesOf(staging);
      await this.#leaving.get(adapter_hash)?.catch(() => undefined);
      // One that is damaged may be in its place.
      await folder.discard(adapter_hash);
      await rename(staging, this.#locate(adapter_hash).folder);
      crashPoint('copies.fetched');
      copy.is_whole = true;
      return true;
    } finally {
      await rm(staging, { recursive: true, force: true });
      crashPoint('copies.cleaned');
    }
  }

  async #makeRoom(): Promise<void> {
    while (this.bytes > this.options.bytes_max) {
      const idle = [...this.#copies].find(([, { users, filling }]) => users === 0 && filling === null);
      if (idle === undefined) return;
      await this.#discard(idle[0]);
      this.options.observer?.evicted();
    }
  }

  /** From this moment nobody finds it. If that fails, its bytes still count, and others go before it is tried again. */
  async #discard(adapter_hash: string): Promise<void> {
    const { bytes = 0 } = this.#copies.get(adapter_hash) ?? {};
    this.#copies.delete(adapter_hash);
    const discard = async (): Promise<void> => {
      try {
        await this.options.folder.discard(adapter_hash);
      } catch (error) {
        const staying = { bytes, users: 0, is_whole: false, filling: null };
        if (!this.#copies.has(adapter_hash)) this.#copies.set(adapter_hash, staying);
        throw error;
      }
    };
    const leaving = discard().finally(() => {
      if (this.#leaving.get(adapter_hash) === leaving) this.#leaving.delete(adapter_hash);
    });
    this.#leaving.set(adapter_hash, leaving);
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
