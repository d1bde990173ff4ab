import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import type { BucketConfig } from '../config/adapterStoreConfig.js';
import type { Database } from '../db/schema.js';
import type { Bucket } from './bucket/s3Bucket.js';
import { storeMark, type AdapterStore } from './adapterStore.js';
import { AdapterStoreMissing } from './adapterStoreMissing.js';
import { AdapterStoreUnavailable } from './adapterStoreUnavailable.js';
import { type FolderStore, locateStore, openFolderStore } from './folderStore.js';
import type { AdapterStoreMetrics } from './storeMetrics.js';

/** How many adapters are looked for if nothing else shows that the folder is the right one. */
const maxLookedFor = 100;
/** The same of a bucket, where each takes a request or two. */
const maxLookedForInBucket = 10;

export type StoreSettings = Pick<Config, 'dataFolder' | 'adapterBucket' | 'adapterCopiesBytes'>;

/** Given by a service only. It starts also while its bucket is away, and reports what it finds. */
export interface StoreWatch {
  readonly logger: Logger;
  readonly metrics: AdapterStoreMetrics;
}

/**
 * Finds the store of the database's adapters: it has the mark of a store, or at least one of these adapters. For a new
 * installation it is made.
 * @throws AdapterStoreMissing if the database has adapters and the store none of them, since all their versions would
 * count as damaged; AdapterStoreUnavailable unless a service asks.
 */
export async function findAdapterStore(
  db: Kysely<Database>,
  { dataFolder, adapterBucket, adapterCopiesBytes }: StoreSettings,
  watch?: StoreWatch,
): Promise<AdapterStore> {
  return adapterBucket === null
    ? findFolderStore(db, dataFolder)
    : findBucketStore(db, { dataFolder, adapterBucket, adapterCopiesBytes }, watch);
}

export async function findFolderStore(db: Kysely<Database>, dataFolder: string): Promise<FolderStore> {
  const { home, isPresent, has } = locateStore(dataFolder);
  if (!(await isPresent()) && !(await hasAny(db, has, maxLookedFor))) {
    throw new AdapterStoreMissing(
      `the database has adapters, and the folder ${home} has none of them: mount its file system, or name the ` +
        `right data folder (--data, ENGRAFT_DATA_DIR). If they are lost for good, make the empty file ${storeMark} in it`,
    );
  }
  return openFolderStore(dataFolder);
}

async function findBucketStore(
  db: Kysely<Database>,
  settings: StoreSettings & { readonly adapterBucket: BucketConfig },
  watch?: StoreWatch,
): Promise<AdapterStore> {
  // Whoever keeps adapters in a folder does not wait for the SDK to be loaded.
  const { openS3Bucket } = await import('./bucket/s3Bucket.js');
  const { markBucket, openBucketStore } = await import('./bucket/bucketStore.js');
  const metrics = watch?.metrics;
  const bucket = openS3Bucket(settings.adapterBucket, {
    onRequest: (operation, outcome) => metrics?.requested(operation, outcome),
  });
  let isAdmitted = false;
  const admit = async (...signals: AbortSignal[]): Promise<boolean> => {
    if (isAdmitted) return false;
    const patience = AbortSignal.any([...signals, AbortSignal.timeout(maxAdmissionMs)]);
    if (!(await assertBucketOf(db, bucket, patience))) await markBucket(bucket, patience);
    isAdmitted = true;
    return true;
  };
  const store = await openBucketStore({
    bucket,
    dataFolder: settings.dataFolder,
    maxCopiesBytes: settings.adapterCopiesBytes,
    admit,
    ...(metrics === undefined ? {} : { observer: metrics }),
    onWrongBytes: (adapterHash) =>
      watch?.logger.error(
        { adapter_hash: adapterHash },
        'the files of an adapter in the bucket do not have the hash in its name',
      ),
  });
  metrics?.watchCopies(store.copiedBytes, settings.adapterCopiesBytes);
  try {
    await admit();
  } catch (error) {
    if (watch === undefined || !(error instanceof AdapterStoreUnavailable)) {
      await store.close();
      throw error;
    }
    watch.logger.error(
      { err: error },
      'the bucket of adapters cannot be reached: jobs wait whose adapters are not on this machine',
    );
  }
  return store;
}

const maxAdmissionMs = 60_000;

/**
 * Changes nothing. Returns whether the bucket has the mark of a store. Throws `AdapterStoreMissing` and
 * `AdapterStoreUnavailable` as `findAdapterStore`.
 */
export async function assertBucketOf(db: Kysely<Database>, bucket: Bucket, signal: AbortSignal): Promise<boolean> {
  const { hasAdapter, isMarked } = await import('./bucket/bucketStore.js');
  if (await isMarked(bucket, signal)) return true;
  const has = (adapterHash: string): Promise<boolean> => hasAdapter(bucket, adapterHash, signal);
  if (await hasAny(db, has, maxLookedForInBucket)) return false;
  throw new AdapterStoreMissing(
    `the database has adapters, and ${bucket.url} has none of them: copy them there (aws s3 sync), or name the ` +
      `right bucket and prefix (ENGRAFT_ADAPTER_STORE). If they are lost for good, put the empty object ` +
      `${storeMark} there`,
  );
}

/** Whether the store has an adapter of the database, or the database none. */
async function hasAny(
  db: Kysely<Database>,
  has: (adapterHash: string) => Promise<boolean>,
  lookedFor: number,
): Promise<boolean> {
  const rows = await db
    .selectFrom('versions')
    .select('adapter_hash')
    .distinct()
    .where('retention_ended_at', 'is', null)
    .where('files_deleted_at', 'is', null)
    .where('damaged_at', 'is', null)
    .limit(lookedFor)
    .execute();
  const found = await Promise.all(rows.map(({ adapter_hash }) => has(adapter_hash)));
  return found.length === 0 || found.includes(true);
}
