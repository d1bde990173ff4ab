import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AdapterStoreUnavailable } from '../adapterStoreUnavailable.js';
import { withBucketRetries } from './bucketRetries.js';

const bounds = { attempts: 2, firstDelayMs: 1, answerMs: 1_000, minBytesPerSecond: 1 };
const failing = (error: Error): Promise<never> =>
  withBucketRetries({ what: 'head it', bounds, attemptMs: 1_000, signal: new AbortController().signal }, () =>
    Promise.reject(error),
  );
const coded = (code: string, syscall: string): Error =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

describe('what fails with a bucket', () => {
  it('is the bucket where no connection is made, whatever is in its way', async () => {
    const refused = ['EACCES', 'EPERM', 'ENOENT'].map((code) => coded(code, 'connect'));
    const ofEachAddress = Object.assign(new AggregateError(refused), { code: 'EACCES' });
    for (const error of [...refused, ofEachAddress]) await assert.rejects(failing(error), AdapterStoreUnavailable);
  });

  it('is this machine where a file cannot be read or written', async () => {
    for (const error of [coded('EACCES', 'open'), coded('ENOSPC', 'write'), coded('EMFILE', 'connect')]) {
      await assert.rejects(failing(error), (thrown) => thrown === error);
    }
  });
});
