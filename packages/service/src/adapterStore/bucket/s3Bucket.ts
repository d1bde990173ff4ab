import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { BucketConfig } from '../../config/adapterStoreConfig.js';
import { attemptMs, type BucketBounds, defaultBounds, isAbsent, withBucketRetries } from './bucketRetries.js';

/** Objects under a prefix. Every method throws `AdapterStoreUnavailable` once it has tried often enough. */
export interface Bucket {
  /** `s3://bucket/prefix`. */
  readonly url: string;
  /** `null`: there is no such object. */
  look(key: string, signal: AbortSignal): Promise<ObjectFound | null>;
  /** When it returns, the bucket has these bytes, and says so. */
  putObject(key: string, source: ObjectSource, signal: AbortSignal): Promise<void>;
  /** Writes an object into a new file. `false`: there is no such object. */
  fetchObject(key: string, found: ObjectFound, file: string, signal: AbortSignal): Promise<boolean>;
  /** Deleting what is not there changes nothing. */
  deleteObject(key: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface ObjectFound {
  readonly bytes: number;
  /** Another one when the content is another one, and usually when it was put there again. */
  readonly tag: string;
}

/** The content of an object: a file, or nothing for an empty object. */
export interface ObjectSource {
  readonly file: string | null;
  readonly bytes: number;
  /** In base64. */
  readonly sha256: string;
}

export type BucketOperation = 'head' | 'put' | 'get' | 'delete';

export interface BucketOptions {
  readonly bounds?: BucketBounds;
  /** Called after each attempt, whether it succeeded or not. */
  readonly onRequest?: (operation: BucketOperation, outcome: 'done' | 'failed') => void;
}

const connectMs = 5_000;

/** The client writes to no log: errors are thrown, and standard error is ours. */
const unsaid = (): void => undefined;
const silent = { trace: unsaid, debug: unsaid, info: unsaid, warn: unsaid, error: unsaid };

function openClient(forcePathStyle: boolean, connectionTimeout: number): S3Client {
  return new S3Client({
    logger: silent,
    forcePathStyle,
    // One place decides on retries, which also sees bodies that end in the middle.
    maxAttempts: 1,
    requestHandler: { connectionTimeout },
    // Others than Amazon's do not all know the checksums that it adds by itself; ours is sent, and compared below.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

/** Asks with the credentials and the region that the SDK finds in its usual places, and not before it must. */
export function openS3Bucket(
  { bucket, prefix, pathStyle }: BucketConfig,
  { bounds = defaultBounds, onRequest = () => undefined }: BucketOptions = {},
): Bucket {
  const client = openClient(pathStyle, Math.min(connectMs, bounds.answerMs));
  const url = `s3://${bucket}/${prefix}`;
  const nameOf = (key: string) => ({ Bucket: bucket, Key: prefix + key });
  const attempt = <Result>(
    operation: BucketOperation,
    key: string,
    bytes: number,
    signal: AbortSignal,
    work: (ending: AbortSignal) => Promise<Result>,
  ): Promise<Result> =>
    withBucketRetries(
      { what: `${operation} ${url}${key}`, bounds, attemptMs: attemptMs(bytes, bounds), signal },
      async (ending) => {
        try {
          const result = await work(ending);
          onRequest(operation, 'done');
          return result;
        } catch (error) {
          onRequest(operation, 'failed');
          throw error;
        }
      },
    );
  const get = async (key: string, abortSignal: AbortSignal): Promise<Readable> => {
    const { Body } = await client.send(new GetObjectCommand(nameOf(key)), { abortSignal });
    return readableOf(Body);
  };

  return {
    url,
    look: (key, signal) =>
      attempt('head', key, 0, signal, (abortSignal) =>
        orNull(async () => {
          const found = await client.send(new HeadObjectCommand(nameOf(key)), { abortSignal });
          // The ETag alone may be that of the right bytes also while others are stored.
          const putAtMs = found.LastModified?.getTime() ?? '';
          return { bytes: found.ContentLength ?? 0, tag: `${found.ETag ?? ''} ${putAtMs}` };
        }),
      ),
    putObject: (key, { file, bytes, sha256 }, signal) =>
      attempt('put', key, 2 * bytes, signal, async (abortSignal) => {
        const body = file === null ? undefined : createReadStream(file);
        const content = { ...(body === undefined ? {} : { Body: body }), ContentLength: bytes, ChecksumSHA256: sha256 };
        const stored = await client
          .send(new PutObjectCommand({ ...nameOf(key), ...content }), { abortSignal })
          .finally(() => body?.destroy());
        if (stored.ChecksumSHA256 === sha256) return;
        // It has not compared the checksum with what came.
        const hash = createHash('sha256');
        await pipeline(await get(key, abortSignal), hash, { signal: abortSignal });
        if (hash.digest('base64') !== sha256) throw new Error('it does not give back what was put');
      }),
    fetchObject: async (key, { bytes }, file, signal) => {
      const fetched = await attempt('get', key, bytes, signal, (abortSignal) =>
        orNull(async () => {
          const body = await get(key, abortSignal);
          await pipeline(body, createWriteStream(file, { mode: 0o600 }), { signal: abortSignal });
          return true;
        }),
      );
      return fetched ?? false;
    },
    deleteObject: (key, signal) =>
      attempt('delete', key, 0, signal, async (abortSignal) => {
        await orNull(() => client.send(new DeleteObjectCommand(nameOf(key)), { abortSignal }));
      }),
    close: () => client.destroy(),
  };
}

async function orNull<Result>(ask: () => Promise<Result>): Promise<Result | null> {
  try {
    return await ask();
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** In Node.js a body is one of its streams. */
function readableOf(body: GetObjectCommandOutput['Body']): Readable {
  if (!(body instanceof Readable)) throw new Error('an answer has no body');
  return body;
}
