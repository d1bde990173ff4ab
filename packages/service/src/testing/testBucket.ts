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
  firstDelayMs: 10,
  answerMs: 30_000,
  minBytesPerSecond: 500_000,
};

/** The bucket that the variables name, which the AWS SDK reads, too. */
export function openTestBucket(environment: NodeJS.ProcessEnv, bounds = testBounds): Bucket {
  Object.assign(process.env, environment);
  const { adapterBucket } = readConfig({}, environment);
  if (adapterBucket === null) throw new Error('no bucket is named');
  return openS3Bucket(adapterBucket, { bounds });
}

export interface TestBucketStore extends BucketStore {
  readonly bucket: Bucket;
  readonly dataFolder: string;
  /** Closes it and removes its folder. */
  end(): Promise<void>;
}

/** A store on the bucket, with copies in a data folder of its own unless one is given. */
export async function openTestBucketStore(
  environment: NodeJS.ProcessEnv,
  options: Partial<BucketStoreOptions> = {},
): Promise<TestBucketStore> {
  const bucket = openTestBucket(environment);
  const dataFolder = options.dataFolder ?? (await mkdtemp(path.join(tmpdir(), 'engraft-bucket-')));
  const given = { maxCopiesBytes: 10_000_000, admit: () => Promise.resolve(false) };
  await markBucket(bucket, AbortSignal.timeout(60_000));
  const store = await openBucketStore({ ...given, ...options, bucket, dataFolder });
  return {
    ...store,
    bucket,
    dataFolder,
    end: async () => {
      await store.close();
      if (options.dataFolder === undefined) await rm(dataFolder, { recursive: true });
    },
  };
}
