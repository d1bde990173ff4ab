import type { AdapterReference } from '@engraft/engine';

/**
 * Where adapters live, each in PEFT's format and named by its content, so that it never changes and nothing is kept
 * twice: a folder (`folderStore.ts`), or a bucket with copies on this machine (`bucket/bucketStore.ts`). The engine
 * checks the content against the name whenever it loads one.
 *
 * Every method may throw `AdapterStoreUnavailable` where the store is elsewhere and cannot be reached.
 */
export interface AdapterStore {
  /** For people: a folder, or the URL of a bucket. */
  readonly home: string;
  /** A folder on this machine for what is about to be kept, under names that `removeRemnants` knows. */
  readonly staging: string;
  /** Whether the store is there, and is the one that was opened: a file system may not be mounted any more. */
  readonly isPresent: () => Promise<boolean>;
  readonly has: (adapterHash: string) => Promise<boolean>;
  /**
   * Whether an adapter is whole, its files being read anew. A copy on this machine that is damaged is replaced, so that
   * what failed with it may be tried again.
   */
  isIntact(adapterHash: string, signal?: AbortSignal): Promise<boolean>;
  /**
   * The files of an adapter, which stay where they are until they are given back. Where the store has none, or other
   * ones, the folder is missing: the engine says so, and never answers without them.
   */
  borrow(adapterHash: string, signal?: AbortSignal): Promise<BorrowedAdapter>;
  /**
   * Puts a finished adapter into the store. When it returns, the adapter survives a power cut; before that nothing
   * bears its name. Keeping an adapter again changes nothing, even if the original is gone; a damaged one is replaced.
   * Rejects if the original does not have its hash, and with `AdapterStoreMissing`.
   */
  keep(adapter: AdapterReference, signal?: AbortSignal): Promise<void>;
  /**
   * Deletes an adapter. It is gone as a whole from the first moment, and for good when this returns. Returns whether
   * there was one; removing a missing adapter changes nothing. Throws `AdapterStoreMissing` if the store is not there,
   * since the adapter may be.
   */
  remove(adapterHash: string): Promise<boolean>;
  /**
   * Deletes what interrupted copies and removals left behind, if nothing was added to it for `age_ms`. Returns how many
   * there were.
   */
  removeRemnants(ageMs: number, stopping?: AbortSignal): Promise<number>;
  /** The adapters that this process has copies of, beside the store. */
  listCopies(): readonly string[];
  /** Deletes the copy of an adapter, unless it is in use. Whether it did. */
  dropCopy(adapterHash: string): Promise<boolean>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

export interface BorrowedAdapter {
  readonly adapter: AdapterReference;
  /** To be called once, by whoever borrowed it. */
  readonly giveBack: () => void;
}

/** By which a store is told from a folder, or a bucket, without adapters. */
export const storeMark = '.engraft-adapters';

export const importingPrefix = '.importing-';

const adapterHashPattern = /^sha256:[0-9a-f]{64}$/;

/** The folder of an adapter, in whatever holds them all. */
export function folderNameOf(adapterHash: string): string {
  if (!adapterHashPattern.test(adapterHash)) throw new Error('an adapter hash is not of the form sha256:<hex>');
  return adapterHash.replace(':', '-');
}
