import { z } from 'zod';

/** A bucket that adapters live in. */
export interface BucketConfig {
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
  /** The bucket is named in the path, not in the host, as servers at an address of their own want it. */
  readonly pathStyle: boolean;
}

const location = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w.!*'()-]+)*)\/?$/;

const copiesBytes = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a whole number of bytes, at least 1')
  .transform(Number);

export const adapterStoreVariables = {
  ENGRAFT_ADAPTER_STORE: z.string().regex(location, 'must be of the form s3://BUCKET or s3://BUCKET/PREFIX').optional(),
  ENGRAFT_ADAPTER_COPIES_BYTES: copiesBytes.default(10_000_000_000),
  AWS_ENDPOINT_URL: z.string().optional(),
  AWS_ENDPOINT_URL_S3: z.string().optional(),
};

type AdapterStoreVariables = z.output<z.ZodObject<typeof adapterStoreVariables>>;

/** `null`: a folder in the data folder. Credentials, region and endpoint are read by the AWS SDK itself. */
export function bucketConfigOf(values: AdapterStoreVariables): BucketConfig | null {
  const [, bucket, path = ''] = location.exec(values.ENGRAFT_ADAPTER_STORE ?? '') ?? [];
  if (bucket === undefined) return null;
  const endpoint = values.AWS_ENDPOINT_URL_S3 ?? values.AWS_ENDPOINT_URL;
  return { bucket, prefix: path === '' ? '' : `${path.slice(1)}/`, pathStyle: endpoint !== undefined };
}
