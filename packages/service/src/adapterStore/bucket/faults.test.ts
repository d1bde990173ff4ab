import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { isAdapterIntact } from '@engraft/engine';
import { forRequests, noFault, startStubBucket, type BucketFault, type StubBucket } from '../../testing/stubBucket.js';
import { keepTestAdapter } from '../../testing/testAdapter.js';
import { openTestBucket, openTestBucketStore, testBounds, type TestBucketStore } from '../../testing/testBucket.js';
import { AdapterStoreUnavailable } from '../adapterStoreUnavailable.js';
import { probeBucket } from './probeBucket.js';
import { rememberedMs } from './wrongObjects.js';

/** A stub, since no real server can be made to do these things. */
describe('a store in a bucket that does wrong', () => {
  let stub: StubBucket;
  let store: TestBucketStore;
  let elsewhere: TestBucketStore;
  let made = 0;
  before(async () => {
    stub = await startStubBucket();
    store = await openTestBucketStore(stub.environment);
    elsewhere = await openTestBucketStore(stub.environment);
  });
  afterEach(() => {
    stub.fault = noFault;
    stub.knowsChecksums = true;
  });
  after(async () => {
    await store.end();
    await elsewhere.end();
    await stub.stop();
  });
  /** Larger than what is sent at once. */
  const weights = (): string => `${(made += 1)}`.padStart(400_000, 'w');
  const isLent = async (hash: string): Promise<boolean> => {
    const { adapter, giveBack } = await elsewhere.borrow(hash);
    const isWhole = await isAdapterIntact(adapter);
    giveBack();
    return isWhole;
  };
  const countOf = (method: string): number => stub.requests.filter((each) => each.method === method).length;
  const passing = ['gone', 'cut', 503] as const satisfies readonly BucketFault[];

  for (const fault of passing) {
    it(`uploads and fetches all the same after "${fault}"`, async () => {
      stub.fault = forRequests(2, 'PUT', fault);
      const hash = await keepTestAdapter(store, weights());
      stub.fault = forRequests(2, 'GET', fault);
      assert.equal(await isLent(hash), true);
    });

    it(`gives up after "${fault}" each time, with nothing kept and nothing lent`, async () => {
      const hash = await keepTestAdapter(store, weights());
      stub.fault = ({ method }) => (method === 'GET' || method === 'PUT' ? fault : null);
      const beforeIt = countOf('GET');
      await assert.rejects(elsewhere.borrow(hash), AdapterStoreUnavailable);
      assert.equal(countOf('GET') - beforeIt, testBounds.attempts);
      assert.ok(!elsewhere.listCopies().includes(hash));
      await assert.rejects(keepTestAdapter(store, weights()), AdapterStoreUnavailable);
      stub.fault = noFault;
      assert.equal(await isLent(hash), true);
    });
  }

  it('gives up where no answer comes', async () => {
    const hash = await keepTestAdapter(store, weights());
    stub.fault = () => 'silent';
    const bucket = openTestBucket(stub.environment, { ...testBounds, answerMs: 100 });
    await assert.rejects(bucket.look(hash, new AbortController().signal), /it took longer than 100 ms/);
    bucket.close();
  });

  it('stops at once for whoever does not wait any more', async () => {
    const hash = await keepTestAdapter(store, weights());
    stub.fault = () => 'silent';
    const gone = new AbortController();
    const borrowed = elsewhere.borrow(hash, gone.signal);
    gone.abort(new Error('the worker is stopping'));
    await assert.rejects(borrowed, /the worker is stopping/);
    await assert.rejects(elsewhere.isIntact(hash, gone.signal), /the worker is stopping/);
    await assert.rejects(
      keepTestAdapter({ ...store, keep: (each) => store.keep(each, gone.signal) }, 'w'),
      /is stopping/,
    );
  });

  it('is left nothing by what the doctor tries, whatever fails of it', async () => {
    const beforeIt = stub.objects.size;
    stub.fault = ({ method }) => (method === 'GET' ? 403 : null);
    await assert.rejects(probeBucket(store.bucket, AbortSignal.timeout(60_000)), /AccessDenied/);
    assert.equal(stub.objects.size, beforeIt);
  });

  it('asks once where it is refused, and says why', async () => {
    const hash = await keepTestAdapter(store, weights());
    stub.fault = ({ method }) => (method === 'GET' ? 403 : null);
    const beforeIt = countOf('GET');
    await assert.rejects(elsewhere.borrow(hash), (error: Error) => {
      assert.ok(error instanceof AdapterStoreUnavailable);
      assert.match(
        error.message,
        /^get s3:\/\/adapters\/of\/tests\/sha256-\w+\/\S+: AccessDenied, .*HTTP 403: check the credentials .*s3:ListBucket/,
      );
      assert.equal(error.cause, undefined);
      return true;
    });
    assert.equal(countOf('GET') - beforeIt, 1);
  });

  it('finds wrong bytes by their hash, fetches once more, and then not again before they are others', async () => {
    const hash = await keepTestAdapter(store, weights());
    stub.fault = forRequests(1, 'GET', 'wrong bytes');
    assert.equal(await isLent(hash), true, 'the second time they are right');
    assert.equal(await elsewhere.dropCopy(hash), true);
    stub.fault = ({ method }) => (method === 'GET' ? 'wrong bytes' : null);
    const beforeIt = countOf('GET');
    assert.equal(await isLent(hash), false);
    assert.equal(countOf('GET') - beforeIt, 4, 'both files, twice');
    assert.equal(await isLent(hash), false);
    assert.equal(await elsewhere.isIntact(hash), false);
    assert.equal(countOf('GET') - beforeIt, 4);
  });

  it('fetches again what was wrong once it is put anew, or after an hour, since its server may have mended it', async () => {
    let nowMs = 0;
    const mending = await openTestBucketStore(stub.environment, { maxCopiesBytes: 0, nowMs: () => nowMs });
    const text = weights();
    const hash = await keepTestAdapter(store, text);
    const findWrong = async (): Promise<void> => {
      stub.fault = ({ method }) => (method === 'GET' ? 'wrong bytes' : null);
      assert.equal(await mending.isIntact(hash), false);
      stub.fault = noFault;
      assert.equal(await mending.isIntact(hash), false, 'as far as the bucket says, nothing has changed');
    };
    await findWrong();
    await keepTestAdapter(store, text);
    assert.equal(await mending.isIntact(hash), true, 'another process has put the same bytes');

    await findWrong();
    nowMs += rememberedMs - 1;
    assert.equal(await mending.isIntact(hash), false);
    nowMs += 1;
    assert.equal(await mending.isIntact(hash), true, 'it may have been mended in place');

    // A server need not say when an object was put.
    stub.putAtS.clear();
    await findWrong();
    await keepTestAdapter(mending, text);
    stub.putAtS.clear();
    assert.equal(await mending.isIntact(hash), true, 'this process has put it');
    await mending.end();
  });

  it('reads back what a server has put that says nothing of checksums', async () => {
    stub.knowsChecksums = false;
    const beforeIt = countOf('GET');
    const hash = await keepTestAdapter(store, weights());
    assert.equal(countOf('GET') - beforeIt, 2);
    assert.equal(await isLent(hash), true);
    stub.fault = ({ method }) => (method === 'GET' ? 'wrong bytes' : null);
    await assert.rejects(keepTestAdapter(store, weights()), /does not give back what was put/);
  });
});
