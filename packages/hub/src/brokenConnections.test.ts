import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { partialOf } from './downloadBlob.js';
import { documentedRule } from './testing/documentedRule.js';
import { impatient, modelId, openBench } from './testing/pulling.js';
import { sha256 } from './testing/hubFiles.js';

const weights = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 104_729) % 253));
const files = { 'config.json': '{"hidden_size": 8}', 'model.safetensors': weights };

function blobIn(cacheFolder: string): string {
  return path.join(cacheFolder, 'models--acme--tiny', 'blobs', sha256(weights));
}

documentedRule('A download that was cut off goes on where it stopped.', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  // Twenty times, at a random byte of what is left, but so that something is left.
  const cuts = fc.sample(fc.integer({ min: 1, max: 9_000 }), 20);
  const left = [...cuts];
  hub.faults.cutAfter = (length) => (length > 1000 ? (left.shift() ?? null) : null);
  // Bytes that arrived and were not read are lost when the connection breaks, so an attempt may bring nothing.
  await pull(modelId, { patience: { ...impatient, attempts: 21 } });
  assert.deepEqual(left, []);
  assert.deepEqual(await readFile(blobIn(cacheFolder)), weights, `cut after ${cuts.join(', ')} bytes`);
  const ranges = hub.seen.filter(({ host }) => host === 'cdn').map(({ headers, status }) => [headers.range, status]);
  assert.equal(ranges.length, 21);
  assert.ok(ranges.some(([, status]) => status === 206));
  assert.ok(ranges.every(([range, status]) => status === (range === undefined ? 200 : 206)));
});

documentedRule('The same command goes on after it was stopped, too.', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  const stopping = new AbortController();
  const onProgress = ({ doneBytes }: { readonly doneBytes: number }): void => {
    if (doneBytes > 50_000) stopping.abort();
  };
  await assert.rejects(pull(modelId, { signal: stopping.signal, onProgress }), { name: 'AbortError' });
  const blob = blobIn(cacheFolder);
  const begun = await readFile(partialOf(blob));
  assert.ok(begun.length > 0 && begun.equals(weights.subarray(0, begun.length)));
  assert.match(path.basename(partialOf(blob)), /\.incomplete$/);

  hub.seen.length = 0;
  const outcome = await pull();
  assert.equal(outcome.kind === 'pulled' && outcome.downloadedBytes, weights.length - begun.length);
  assert.deepEqual(await readFile(blob), weights);
  assert.deepEqual(
    hub.seen.filter(({ host }) => host === 'cdn').map(({ headers }) => headers.range),
    [`bytes=${begun.length}-`],
  );
});

test('a server that does not do ranges gives the whole file again', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  const cuts = [70_000, 20_000];
  hub.faults.ignoresRange = true;
  hub.faults.cutAfter = (length) => (length > 1000 ? (cuts.shift() ?? null) : null);
  await pull();
  assert.deepEqual(await readFile(blobIn(cacheFolder)), weights);
});

test('another part of the file than was asked for is not taken', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  const cuts = [70_000];
  hub.faults.shiftsRange = true;
  hub.faults.cutAfter = (length) => (length > 1000 ? (cuts.shift() ?? null) : null);
  await pull();
  assert.deepEqual(await readFile(blobIn(cacheFolder)), weights);
});

test('what an earlier pull left of another content, or too much of it, is downloaded anew', async (t) => {
  for (const left of [Buffer.alloc(1000, 1), Buffer.alloc(weights.length, 1), Buffer.alloc(weights.length + 1, 1)]) {
    await t.test(`${left.length} bytes`, async (each) => {
      const { hub, cacheFolder, pull } = await openBench(each);
      hub.put(modelId, files);
      const blob = blobIn(cacheFolder);
      await mkdir(path.dirname(blob), { recursive: true });
      await writeFile(partialOf(blob), left);
      await pull();
      assert.deepEqual(await readFile(blob), weights);
    });
  }
});

documentedRule(
  'Broken connections, and answers that say "try again later", are tried again, six times in a row at most.',
  async (t) => {
    const { hub, cacheFolder, pull } = await openBench(t);
    hub.put(modelId, files);
    const statuses = [503, 500, 429, 502, 504];
    hub.faults.status = () => statuses.shift() ?? null;
    await pull();
    assert.deepEqual(statuses, []);
    assert.deepEqual(await readFile(blobIn(cacheFolder)), weights);

    await t.test('a listing', async (each) => {
      const other = await openBench(each);
      other.hub.faults.status = () => 503;
      await assert.rejects(other.pull(), { code: 'unreachable', message: /answers with status 503.*try again/ });
      assert.equal(other.hub.seen.length, 6);
    });
    await t.test('a file', async (each) => {
      const other = await openBench(each);
      other.hub.put(modelId, files);
      other.hub.faults.cutAfter = (length) => (length > 1000 ? 0 : null);
      await assert.rejects(other.pull(), {
        code: 'unreachable',
        message: /\((?:the connection broke|ECONNRESET)\): check the network/,
      });
      assert.equal(other.hub.seen.filter(({ host }) => host === 'cdn').length, 6);
    });
  },
);

test('an address that the hub signed and the other host no longer takes is asked for again', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  const statuses = [403];
  hub.faults.status = (host) => (host === 'cdn' ? (statuses.shift() ?? null) : null);
  await pull();
  assert.deepEqual(await readFile(blobIn(cacheFolder)), weights);
});

test('a hub that is busy is left alone for as long as it says', async (t) => {
  const { hub, pull } = await openBench(t);
  hub.put(modelId, files);
  const statuses = [429];
  hub.faults.status = () => statuses.shift() ?? null;
  hub.faults.retryAfter = '1';
  const startedAt = Date.now();
  await pull();
  // No upper bound: timers are never early, and machines may be slow.
  assert.ok(Date.now() - startedAt >= 990);
});

test('a connection that says nothing more counts as broken', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  const stalls = [true];
  hub.faults.stalls = () => stalls.shift() ?? false;
  await pull(modelId, { patience: { ...impatient, idleMs: 300 } });
  assert.deepEqual(await readFile(blobIn(cacheFolder)), weights);
});

test('where nobody listens, the message says what to check', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  await hub.close();
  const settings = { endpoint: hub.endpoint, token: null, cacheFolder, offline: false };
  await assert.rejects(pull(modelId, { settings }), {
    code: 'unreachable',
    message: /^127\.0\.0\.1:\d+ cannot be used \(ECONNREFUSED\): check the network and HF_ENDPOINT/,
  });
  await assert.rejects(readdir(cacheFolder), { code: 'ENOENT' });
});
