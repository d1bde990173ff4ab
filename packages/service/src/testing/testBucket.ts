import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BucketBounds } from '../adapterStore/bucket/bucketRetries.js';
import {
  type BucketStore,
  type BucketStoreOptions,
  markBucket,
  openBucketStore,
} from '../adapterStore/bucket/bucketStore.js';
import { type Bucket, openS3Bucket } from '../adapterStore/bucket/s3Bucket.js';
import { readConfig } from '../config/config.js';

/** Short enough for a test to wait for the last attempt; a busy machine may take long to answer. */
export const testBounds: BucketBounds = {
  attempts: 3,
  first_delay_ms: 10,
  answer_ms: 30_000,
  bytes_per_second_min: 500_000,
};

/** The bucket that the variables name, which the AWS SDK reads, too. */
export function openTestBucket(environment: NodeJS.ProcessEnv, bounds = testBounds): Bucket {
  Object.assign(process.env, environment);
  const { adapter_bucket } = readConfig({}, environment);
  if (adapter_bucket === null) throw new Error('no bucket is named');
  return openS3Bucket(adapter_bucket, { bounds });
}

export interface TestBucketStore extends BucketStore {
  readonly bucket: Bucket;
  readonly data_folder: string;
  /** Closes it and removes its folder. */
  end(): Promise<void>;
}

/** A store on the bucket, with copies in a data folder of its own unless one is given. */
export async function openTestBucketStore(
  environment: NodeJS.ProcessEnv,
  options: Partial<BucketStoreOptions> = {},
): Promise<TestBucketStore> {
  const bucket = openTestBucket(environment);
  const dataFolder = options.data_folder ?? (await mkdtemp(path.join(tmpdir(), 'engraft-bucket-')));
  const given = { copies_bytes_max: 10_000_000, admit: () => Promise.resolve() };
  await markBucket(bucket, AbortSignal.timeout(60_000));
  const store = await openBucketStore({ ...given, ...options, bucket, data_folder: dataFolder });
  return {
    ...store,
    bucket,
    data_folder: dataFolder,
    end: async () => {
      await store.close();
      if (options.data_folder === undefined) await rm(dataFolder, { recursive: true });
    },
  };
}
