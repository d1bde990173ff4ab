import assert from 'node:assert/strict';
import { access, copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { adapterFiles, isAdapterIntact, type AdapterReference } from '@engraft/engine';
import { writeTestAdapter } from '../../testing/testAdapter.js';
import { AdapterCopies, type AdapterSource } from './adapterCopies.js';
import { type CopiesFolder, openCopiesFolder } from './copiesFolder.js';

const adapterBytes = 1002;

/** A fault injector: adapters that lie on this machine, and come when they may. */
class SlowSource implements AdapterSource {
  readonly adapters = new Map<string, AdapterReference>();
  fetches = 0;
  /** A fetch waits for it once one of its files is there. */
  gate: Promise<void> = Promise.resolve();

  look = (): Promise<{ bytes: number }> => Promise.resolve({ bytes: adapterBytes });

  fetch = async (adapterHash: string, _found: unknown, folder: string): Promise<boolean> => {
    this.fetches += 1;
    const from = this.adapters.get(adapterHash)?.folder ?? '';
    const [first, second] = adapterFiles;
    await copyFile(path.join(from, first), path.join(folder, first));
    await this.gate;
    await copyFile(path.join(from, second), path.join(folder, second));
    return true;
  };
}

describe('copies of adapters, whatever comes in between', () => {
  let home: string;
  let dataFolder: string;
  let folder: CopiesFolder;
  const source = new SlowSource();
  let hashes: readonly string[];
  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'engraft-copies-'));
    for (const letter of 'abcde') {
      const made = path.join(home, letter);
      await mkdir(made);
      const adapter = await writeTestAdapter(made, letter.repeat(adapterBytes - 2));
      source.adapters.set(adapter.contentHash, adapter);
    }
    hashes = [...source.adapters.keys()];
  });
  beforeEach(async () => {
    dataFolder = await mkdtemp(path.join(home, 'data-'));
    folder = await openCopiesFolder(dataFolder);
  });
  afterEach(() => {
    source.gate = Promise.resolve();
    source.fetches = 0;
  });
  after(() => rm(home, { recursive: true }));

  let evicted = 0;
  const open = (maxAdapters: number, inFolder = folder): Promise<AdapterCopies> => {
    evicted = 0;
    const observer = { asked: () => undefined, evicted: () => (evicted += 1) };
    return AdapterCopies.open({ folder: inFolder, source, maxBytes: maxAdapters * adapterBytes, observer });
  };
  const use = async (copies: AdapterCopies, hash = ''): Promise<void> => (await copies.borrow(hash)).giveBack();
  const onDisk = (): Promise<string[]> => readdir(folder.path);

  it('leave nothing when a fetch fails, for whoever asked and whoever waited', async () => {
    const [a = ''] = hashes;
    const copies = await open(1);
    source.gate = Promise.reject(new Error('the bucket is away'));
    source.gate.catch(() => undefined);
    const asked = await Promise.allSettled([copies.borrow(a), copies.mend(a), copies.borrow(a)]);
    assert.deepEqual(new Set(asked.map(({ status }) => status)), new Set(['rejected']));
    assert.equal(source.fetches, 1);
    assert.deepEqual([await onDisk(), copies.list(), copies.bytes], [[], [], 0]);
    source.gate = Promise.resolve();
    await use(copies, a);
    assert.deepEqual([copies.list(), copies.bytes], [[a], adapterBytes]);
    await copies.close();
  });

  it('leave nothing of a damaged one whose fetch fails after whoever asked has gone', async () => {
    const [a = ''] = hashes;
    const copies = await open(1);
    const { adapter, giveBack } = await copies.borrow(a);
    giveBack();
    await writeFile(path.join(adapter.folder, adapterFiles[1]), 'damaged');
    let fail: () => void = () => undefined;
    source.gate = new Promise((_, reject) => (fail = () => reject(new Error('the bucket is away'))));
    source.gate.catch(() => undefined);
    const gone = new AbortController();
    const mended = copies.mend(a, gone.signal);
    while (source.fetches < 2) await new Promise(setImmediate);
    gone.abort(new Error('the worker is stopping'));
    await assert.rejects(mended, /is stopping/);
    assert.equal(await copies.drop(a), false, 'it is being fetched');
    fail();
    await copies.close();
    assert.deepEqual([await onDisk(), copies.list(), copies.bytes], [[], [], 0]);
  });

  it('keep their bound when a fetch ends that nobody waits for any more', async () => {
    const [a = ''] = hashes;
    const copies = await open(0);
    let pass: () => void = () => undefined;
    source.gate = new Promise((resolve) => (pass = resolve));
    const gone = new AbortController();
    const borrowed = copies.borrow(a, gone.signal);
    while (source.fetches < 1) await new Promise(setImmediate);
    gone.abort(new Error('the worker is stopping'));
    await assert.rejects(borrowed, /is stopping/);
    pass();
    await copies.close();
    assert.deepEqual([await onDisk(), copies.list(), copies.bytes, evicted], [[], [], 0, 1]);
  });

  it('make room at once for several with no more than has to go, and none that is in use', async () => {
    const [a = '', b = '', c = '', d = '', e = ''] = hashes;
    const copies = await open(3);
    const lent = await copies.borrow(a);
    for (const hash of [b, c]) await use(copies, hash);
    const both = await Promise.all([copies.borrow(d), copies.borrow(e)]);
    assert.deepEqual([copies.list(), copies.bytes, evicted], [[a, d, e], 3 * adapterBytes, 2]);
    const third = await copies.borrow(b);
    assert.deepEqual([copies.bytes, evicted], [4 * adapterBytes, 2], 'all are in use');
    for (const { adapter } of [lent, ...both, third]) assert.equal(await isAdapterIntact(adapter), true);
    for (const { giveBack } of [lent, ...both, third]) giveBack();
    await copies.close();
    assert.deepEqual([copies.list(), evicted, (await onDisk()).length], [[d, e, b], 3, 3]);
  });

  it('count one that could not be deleted, and delete it when there is need again', async () => {
    const [a = '', b = '', c = ''] = hashes;
    let failing: string | null = null;
    const discard = (hash: string): Promise<void> =>
      hash === failing ? Promise.reject(new Error('the disk is broken')) : folder.discard(hash);
    const copies = await open(2, { ...folder, discard });
    for (const hash of [a, b]) await use(copies, hash);
    failing = a;
    await assert.rejects(use(copies, c), /the disk is broken/);
    assert.deepEqual([copies.list(), copies.bytes], [[b, a], 2 * adapterBytes]);
    await use(copies, c);
    assert.deepEqual([copies.list(), copies.bytes], [[a, c], 2 * adapterBytes], 'another went in its place');
    failing = null;
    await use(copies, b);
    assert.deepEqual([copies.list(), (await onDisk()).length], [[c, b], 2]);
    await copies.close();
  });

  it('are not made of what is kept where they could not stay', async () => {
    const [a = '', b = ''] = hashes;
    const none = await open(0);
    await none.adopt(a, source);
    assert.deepEqual([source.fetches, none.list(), evicted], [0, [], 0]);
    await none.close();
    folder = await openCopiesFolder(dataFolder);
    const one = await open(1);
    for (const hash of [a, b]) await one.adopt(hash, source);
    assert.deepEqual([source.fetches, one.list()], [2, [b]]);
    await one.close();
  });

  it("are left alone once the folder is another process's", async () => {
    const [a = ''] = hashes;
    const copies = await open(0);
    const { adapter, giveBack } = await copies.borrow(a);
    await copies.close();
    giveBack();
    await new Promise(setImmediate);
    await access(adapter.folder);
    const next = await AdapterCopies.open({ folder: await openCopiesFolder(dataFolder), source, maxBytes: 10_000 });
    assert.deepEqual(next.list(), [a]);
    await next.close();
  });
});
