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
const looked_for_max = 100;
/** The same of a bucket, where each takes a request or two. */
const looked_for_in_bucket_max = 10;

export type StoreSettings = Pick<Config, 'data_folder' | 'adapter_bucket' | 'adapter_copies_bytes'>;

/** Of a service, which starts also while its bucket is away, and says what it finds. */
export interface StoreWatch {
  readonly logger: Logger;
  readonly metrics: AdapterStoreMetrics;
}

/**
 * The store of the adapters that the database has: with the mark of a store, or with at least one of them. Of a new
 * installation it is made.
 * @throws AdapterStoreMissing where the database has adapters and the store none of them: their versions would all
 * count as damaged; AdapterStoreUnavailable unless a service asks.
 */
export async function findAdapterStore(
  db: Kysely<Database>,
  { data_folder, adapter_bucket, adapter_copies_bytes }: StoreSettings,
  watch?: StoreWatch,
): Promise<AdapterStore> {
  return adapter_bucket === null
    ? findFolderStore(db, data_folder)
    : findBucketStore(db, { data_folder, adapter_bucket, adapter_copies_bytes }, watch);
}

export async function findFolderStore(db: Kysely<Database>, data_folder: string): Promise<FolderStore> {
  const { home, isPresent, has } = locateStore(data_folder);
  if (!(await isPresent()) && !(await hasAny(db, has, looked_for_max))) {
    throw new AdapterStoreMissing(
      `the database has adapters, and the folder ${home} has none of them: mount its file system, or name the ` +
        `right data folder (--data, ENGRAFT_DATA_DIR). If they are lost for good, make the empty file ${storeMark} in it`,
    );
  }
  return openFolderStore(data_folder);
}

async function findBucketStore(
  db: Kysely<Database>,
  settings: StoreSettings & { readonly adapter_bucket: BucketConfig },
  watch?: StoreWatch,
): Promise<AdapterStore> {
  // Whoever keeps adapters in a folder does not wait for the SDK to be loaded.
  const { openS3Bucket } = await import('./bucket/s3Bucket.js');
  const { markBucket, openBucketStore } = await import('./bucket/bucketStore.js');
  const metrics = watch?.metrics;
  const bucket = openS3Bucket(settings.adapter_bucket, {
    onRequest: (operation, outcome) => metrics?.requested(operation, outcome),
  });
  let is_admitted = false;
  const admit = async (...signals: AbortSignal[]): Promise<boolean> => {
    if (is_admitted) return false;
    const patience = AbortSignal.any([...signals, AbortSignal.timeout(admission_ms_max)]);
    if (!(await assertBucketOf(db, bucket, patience))) await markBucket(bucket, patience);
    is_admitted = true;
    return true;
  };
  const store = await openBucketStore({
    bucket,
    data_folder: settings.data_folder,
    copies_bytes_max: settings.adapter_copies_bytes,
    admit,
    ...(metrics === undefined ? {} : { observer: metrics }),
    onWrongBytes: (adapter_hash) =>
      watch?.logger.error(
        { adapter_hash },
        'the files of an adapter in the bucket are not those that its name promises',
      ),
  });
  metrics?.watchCopies(store.copied_bytes, settings.adapter_copies_bytes);
  try {
    await admit();
  } catch (error) {
    if (watch === undefined || !(error instanceof AdapterStoreUnavailable)) {
      await store.close();
      throw error;
    }
    watch.logger.error({ err: error }, 'the bucket of adapters is away: those that are not on this machine must wait');
  }
  return store;
}

const admission_ms_max = 60_000;

/**
 * Changes nothing. Returns whether the bucket has the mark of a store. Throws `AdapterStoreMissing` and
 * `AdapterStoreUnavailable` as `findAdapterStore`.
 */
export async function assertBucketOf(db: Kysely<Database>, bucket: Bucket, signal: AbortSignal): Promise<boolean> {
  const { hasAdapter, isMarked } = await import('./bucket/bucketStore.js');
  if (await isMarked(bucket, signal)) return true;
  const has = (adapter_hash: string): Promise<boolean> => hasAdapter(bucket, adapter_hash, signal);
  if (await hasAny(db, has, looked_for_in_bucket_max)) return false;
  throw new AdapterStoreMissing(
    `the database has adapters, and ${bucket.url} has none of them: copy them there (aws s3 sync), or name the ` +
      `right bucket and prefix (ENGRAFT_ADAPTER_STORE). If they are lost for good, put the empty object ` +
      `${storeMark} there`,
  );
}

/** Whether the store has an adapter of the database, or the database none. */
async function hasAny(
  db: Kysely<Database>,
  has: (adapter_hash: string) => Promise<boolean>,
  looked_for: number,
): Promise<boolean> {
  const rows = await db
    .selectFrom('versions')
    .select('adapter_hash')
    .distinct()
    .where('retention_ended_at', 'is', null)
    .where('files_deleted_at', 'is', null)
    .where('damaged_at', 'is', null)
    .limit(looked_for)
    .execute();
  const found = await Promise.all(rows.map(({ adapter_hash }) => has(adapter_hash)));
  return found.length === 0 || found.includes(true);
}
