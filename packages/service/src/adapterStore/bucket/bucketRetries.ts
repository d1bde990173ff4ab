import { setTimeout as sleep } from 'node:timers/promises';
import { AdapterStoreUnavailable } from '../adapterStoreUnavailable.js';

/** How long, and how often, a bucket is asked before it counts as away. */
export interface BucketBounds {
  readonly attempts: number;
  /** Twice as long after each further attempt. */
  readonly firstDelayMs: number;
  /** In which an attempt without a file must have ended. */
  readonly answerMs: number;
  /** A file has so much more time. */
  readonly minBytesPerSecond: number;
}

export const defaultBounds: BucketBounds = {
  attempts: 4,
  firstDelayMs: 250,
  answerMs: 10_000,
  minBytesPerSecond: 500_000,
};

/** The longest time that one attempt may take to move so many bytes. */
export function attemptMs(bytes: number, { answerMs, minBytesPerSecond }: BucketBounds): number {
  return answerMs + Math.ceil((bytes / minBytesPerSecond) * 1000);
}

export interface Attempts {
  /** For people: what is done, and with what. */
  readonly what: string;
  readonly bounds: BucketBounds;
  readonly attemptMs: number;
  /** The caller no longer waits. Its reason is thrown. */
  readonly signal: AbortSignal;
}

/**
 * Tries something with a bucket until it succeeds, is refused for good, or has been tried often enough.
 * @param work is given what ends the attempt.
 * @throws AdapterStoreUnavailable; what is wrong with this machine, such as a full disk, as it is.
 */
export async function withBucketRetries<Result>(
  { what, bounds, attemptMs, signal }: Attempts,
  work: (ending: AbortSignal) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    const late = AbortSignal.timeout(attemptMs);
    try {
      return await work(AbortSignal.any([signal, late]));
    } catch (error) {
      signal.throwIfAborted();
      if (isOfThisMachine(error)) throw error;
      if (attempt === bounds.attempts || isRefusal(error)) {
        const why = late.aborted ? `it took longer than ${attemptMs} ms` : describeBucketError(error);
        throw new AdapterStoreUnavailable(`${what}: ${why}${hintFor(statusOf(error))}`, isRefusal(error));
      }
      // Those who found it away together do not come back together.
      const delayMs = bounds.firstDelayMs * 2 ** (attempt - 1) * (0.75 + Math.random() / 2);
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** `$metadata` is what the AWS SDK knows of an answer. */
interface Answered extends Error {
  readonly $metadata: { readonly httpStatusCode?: number };
}

function statusOf(error: unknown): number | null {
  return isAnswered(error) ? (error.$metadata.httpStatusCode ?? null) : null;
}

function isAnswered(error: unknown): error is Answered {
  return error instanceof Error && '$metadata' in error && typeof error.$metadata === 'object';
}

/** Whether there is no such object. A bucket that is not there says the same of whole objects, but by another name. */
export function isAbsent(error: unknown): boolean {
  return statusOf(error) === 404 && error instanceof Error && error.name !== 'NoSuchBucket';
}

/** Answers that blame the request, and yet may be others when it is sent again. */
const passingStatuses: readonly number[] = [408, 425, 429];
const passingNames: readonly string[] = ['RequestTimeTooSkewed', 'RequestTimeout', 'BadDigest', 'SlowDown'];

function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  if (status === null || status < 400 || status >= 500) return false;
  return !passingStatuses.includes(status) && !(error instanceof Error && passingNames.includes(error.name));
}

const codesOfThisMachine: ReadonlySet<unknown> = new Set('ENOSPC EDQUOT EROFS EIO EMFILE ENFILE'.split(' '));
/** As errors of a connection they mean that something is in its way, such as a firewall. */
const codesOfFiles: ReadonlySet<unknown> = new Set('ENOENT EACCES EPERM'.split(' '));

function isOfThisMachine(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return codesOfThisMachine.has(error.code) || (codesOfFiles.has(error.code) && !isOfConnecting(error));
}

/** To a name with several addresses, each of which failed, or to one address. */
function isOfConnecting(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isOfConnecting);
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}

function hintFor(status: number | null): string {
  if (status !== 401 && status !== 403) return '';
  return ': check the credentials and their rights (s3:ListBucket, GetObject, PutObject, DeleteObject)';
}

/** Nothing of how the request was signed. */
function describeBucketError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const status = statusOf(error);
  const said = [error.name, error.message].filter((text, at, all) => text !== '' && all.indexOf(text) === at);
  const code = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  return [...said, ...code, ...(status === null ? [] : [`HTTP ${status}`])].join(', ');
}
