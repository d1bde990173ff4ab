import { storeMark, type AdapterStore } from '../adapterStore/adapterStore.js';
import { openFolderStore } from '../adapterStore/folderStore.js';
import type { BucketConfig } from '../config/adapterStoreConfig.js';
import { storeInUse } from './incomingAdapters.js';

/** Where the adapters of a backup go. */
export interface RestoredStore {
  readonly store: AdapterStore;
  /** Removes what was put there. A folder goes with the staging that it is in. */
  giveUp(adapterHashes: readonly string[]): Promise<void>;
}

/**
 * The store of an installation that is being made in `staging`.
 * @throws BackupError where the bucket has adapters under this prefix: their installation may be in use.
 */
export async function openRestoredStore(staging: string, bucketConfig: BucketConfig | null): Promise<RestoredStore> {
  if (bucketConfig === null) {
    return { store: await openFolderStore(staging), giveUp: () => Promise.resolve() };
  }
  const { openS3Bucket } = await import('../adapterStore/bucket/s3Bucket.js');
  const { markBucket, openBucketStore } = await import('../adapterStore/bucket/bucketStore.js');
  const bucket = openS3Bucket(bucketConfig);
  // Nobody asks for the restored adapters here, so no copies are needed.
  const options = { bucket, dataFolder: staging, maxCopiesBytes: 0, admit: () => Promise.resolve(false) };
  const store = await openBucketStore(options);
  const unmark = (): Promise<void> => bucket.deleteObject(storeMark, AbortSignal.timeout(patienceMs));
  try {
    if (await store.isPresent()) throw storeInUse(bucket.url);
    await markBucket(bucket, AbortSignal.timeout(patienceMs)).catch(async (error: unknown) => {
      // It may have come nevertheless.
      await unmark().catch(() => undefined);
      throw error;
    });
  } catch (error) {
    await store.close();
    throw error;
  }
  return {
    store,
    giveUp: async (adapterHashes) => {
      for (const adapterHash of adapterHashes) await store.remove(adapterHash);
      await unmark();
    },
  };
}

const patienceMs = 60_000;
