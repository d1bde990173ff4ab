import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { adapterFiles, isAdapterIntact, type AdapterReference } from '@engraft/engine';
import { crashPoint } from '../../crashPoints.js';
import { folderNameOf, storeMark, type AdapterStore } from '../adapterStore.js';
import { AdapterStoreMissing } from '../adapterStoreMissing.js';
import { AdapterStoreUnavailable } from '../adapterStoreUnavailable.js';
import { AdapterCopies, type AdapterSource, type CopiesObserver, type Found } from './adapterCopies.js';
import { type CopiesFolder, openCopiesFolder } from './copiesFolder.js';
import type { Bucket, ObjectFound, ObjectSource } from './s3Bucket.js';
import { WrongObjects } from './wrongObjects.js';

export interface BucketStoreOptions {
  readonly bucket: Bucket;
  readonly dataFolder: string;
  readonly maxCopiesBytes: number;
  /**
   * Called before an adapter is kept or removed. Rejects if the bucket is not that of the database. Resolves to whether
   * it has just seen the mark, or put it.
   */
  readonly admit: (signal: AbortSignal) => Promise<boolean>;
  readonly observer?: CopiesObserver;
  /** The bucket has other files than those that the name of the adapter promises. */
  readonly onWrongBytes?: (adapterHash: string) => void;
  /** Monotonic. */
  readonly nowMs?: () => number;
}

export interface BucketStore extends AdapterStore {
  /** The size of all copies on this machine. */
  readonly copiedBytes: () => number;
}

/**
 * Deleting happens in a transaction, which may not take long, and is tried again by the next round of retention.
 */
const maxRemovalMs = 12_000;

/**
 * Adapters as `<prefix>sha256-<hex>/<file>` in a bucket. The weights come before the configuration and go after it, so
 * that an adapter with a configuration has weights. The bucket is closed with the store, also if that cannot be opened.
 */
export async function openBucketStore(options: BucketStoreOptions): Promise<BucketStore> {
  const { bucket } = options;
  const { folder, copies, wrong } = await openCopies(options).catch((error: unknown) => {
    bucket.close();
    throw error;
  });
  const closing = new AbortController();
  const whileOpen = (signal?: AbortSignal): AbortSignal =>
    signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
  const assertPresent = async (signal: AbortSignal): Promise<void> => {
    if (await options.admit(signal)) return;
    if (!(await isMarked(bucket, signal)))
      throw new AdapterStoreMissing(`there are no adapters in ${bucket.url} any more`);
  };

  return {
    home: bucket.url,
    staging: folder.path,
    copiedBytes: () => copies.bytes,
    isPresent: () => isMarked(bucket, closing.signal),
    has: (adapterHash) => hasAdapter(bucket, adapterHash, closing.signal),
    isIntact: (adapterHash, signal) => copies.mend(adapterHash, signal),
    borrow: (adapterHash, signal) => copies.borrow(adapterHash, signal),
    keep: async (adapter, signal) => {
      const open = whileOpen(signal);
      await assertPresent(open);
      const { contentHash } = adapter;
      if (!(await isAdapterIntact(adapter))) {
        // A copy on this machine alone is not kept: nobody else has it.
        if ((await hasAdapter(bucket, contentHash, open)) && (await copies.mend(contentHash, open))) return;
        throw new Error(`the adapter in ${adapter.folder} is not ${contentHash} any more`);
      }
      await upload(bucket, adapter, open);
      wrong.forget(contentHash);
      // The next question need not fetch it; where there is no room for it, it will.
      await copies.adopt(contentHash, copyOf(adapter)).catch(() => undefined);
    },
    remove: async (adapterHash) => {
      const late = AbortSignal.timeout(maxRemovalMs);
      const bounded = whileOpen(late);
      try {
        await assertPresent(bounded);
        const wasThere = await removeObjects(bucket, adapterHash, bounded);
        wrong.forget(adapterHash);
        await copies.drop(adapterHash);
        return wasThere;
      } catch (error) {
        if (error !== late.reason) throw error;
        throw new AdapterStoreUnavailable(`delete from ${bucket.url}: it took longer than ${maxRemovalMs} ms`);
      }
    },
    // They went when the folder of copies was opened; what is in the bucket, the database knows of.
    removeRemnants: () => Promise.resolve(0),
    listCopies: () => copies.list(),
    dropCopy: (adapterHash) => copies.drop(adapterHash),
    close: async () => {
      closing.abort(new Error('the store of adapters is closed'));
      await copies.close();
      bucket.close();
    },
  };
}

interface OpenCopies {
  readonly folder: CopiesFolder;
  readonly copies: AdapterCopies<FoundFiles>;
  readonly wrong: WrongObjects;
}

async function openCopies(options: BucketStoreOptions): Promise<OpenCopies> {
  const { bucket, dataFolder, maxCopiesBytes, observer, onWrongBytes = () => undefined } = options;
  const wrong = new WrongObjects(options.nowMs ?? (() => performance.now()));
  const folder = await openCopiesFolder(dataFolder);
  try {
    const copies = await AdapterCopies.open({
      folder,
      source: adaptersIn(bucket, wrong, onWrongBytes),
      maxBytes: maxCopiesBytes,
      ...(observer === undefined ? {} : { observer }),
    });
    return { folder, copies, wrong };
  } catch (error) {
    await folder.leave();
    throw error;
  }
}

export async function isMarked(bucket: Bucket, signal: AbortSignal): Promise<boolean> {
  return (await bucket.look(storeMark, signal)) !== null;
}

export async function hasAdapter(bucket: Bucket, adapterHash: string, signal: AbortSignal): Promise<boolean> {
  return (await lookAt(bucket, adapterHash, signal)) !== null;
}

/** Says of a bucket that adapters are in it. */
export async function markBucket(bucket: Bucket, signal: AbortSignal): Promise<void> {
  const sha256 = createHash('sha256').digest('base64');
  await bucket.putObject(storeMark, { file: null, bytes: 0, sha256 }, signal);
  crashPoint('bucket.marked');
}

const [configuration, weights] = adapterFiles;

function keyOf(adapterHash: string, file: string): string {
  return `${folderNameOf(adapterHash)}/${file}`;
}

interface FoundFiles extends Found {
  readonly files: readonly (readonly [string, ObjectFound])[];
}

/** `null`: a file of it is missing. */
async function lookAt(bucket: Bucket, adapterHash: string, signal: AbortSignal): Promise<FoundFiles | null> {
  const files: (readonly [string, ObjectFound])[] = [];
  for (const name of adapterFiles) {
    const found = await bucket.look(keyOf(adapterHash, name), signal);
    if (found === null) return null;
    files.push([name, found]);
  }
  return { files, bytes: files.reduce((sum, [, { bytes }]) => sum + bytes, 0) };
}

/** Fetched once more where they are not what their name says: they may have been damaged on their way. */
const maxFetches = 2;

function adaptersIn(
  bucket: Bucket,
  wrong: WrongObjects,
  onWrongBytes: (adapterHash: string) => void,
): AdapterSource<FoundFiles> {
  const tagsOf = ({ files }: FoundFiles): string => files.map(([, { tag }]) => tag).join(' ');
  return {
    look: async (adapterHash, signal) => {
      const found = await lookAt(bucket, adapterHash, signal);
      return found === null || wrong.has(adapterHash, tagsOf(found)) ? null : found;
    },
    fetch: async (adapterHash, found, folder, signal) => {
      for (let fetches = 1; fetches <= maxFetches; fetches += 1) {
        for (const [name, object] of found.files) {
          const file = path.join(folder, name);
          if (!(await bucket.fetchObject(keyOf(adapterHash, name), object, file, signal))) return false;
          crashPoint('copies.file_fetched');
        }
        if (await isAdapterIntact({ folder, contentHash: adapterHash })) {
          wrong.forget(adapterHash);
          return true;
        }
      }
      wrong.add(adapterHash, tagsOf(found));
      onWrongBytes(adapterHash);
      return false;
    },
  };
}

async function upload(bucket: Bucket, { folder, contentHash }: AdapterReference, signal: AbortSignal): Promise<void> {
  for (const name of [weights, configuration]) {
    await bucket.putObject(keyOf(contentHash, name), await sourceOf(path.join(folder, name)), signal);
    crashPoint('upload.object_stored');
  }
}

export async function sourceOf(file: string): Promise<ObjectSource> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return { file, bytes: (await stat(file)).size, sha256: hash.digest('base64') };
}

/** Whether there was any file of it. */
async function removeObjects(bucket: Bucket, adapterHash: string, signal: AbortSignal): Promise<boolean> {
  let wasThere = false;
  for (const name of [configuration, weights]) {
    const key = keyOf(adapterHash, name);
    if ((await bucket.look(key, signal)) === null) continue;
    wasThere = true;
    await bucket.deleteObject(key, signal);
    crashPoint('deletion.object_removed');
  }
  return wasThere;
}

/** An adapter that lies on this machine. */
function copyOf({ folder: from, contentHash }: AdapterReference): AdapterSource {
  return {
    look: async () => {
      const files = await Promise.all(adapterFiles.map((name) => stat(path.join(from, name))));
      return { bytes: files.reduce((sum, { size }) => sum + size, 0) };
    },
    fetch: async (_adapterHash, _found, folder) => {
      for (const name of adapterFiles) {
        await copyFile(path.join(from, name), path.join(folder, name));
        crashPoint('copies.file_fetched');
      }
      return isAdapterIntact({ folder, contentHash });
    },
  };
}
