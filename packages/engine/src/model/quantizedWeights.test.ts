import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { randomWeights, temporaryFolder, tinyConfig, readerOf } from '../testing/fixtures.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { CachedBatch, logSoftmax } from '../testing/runs.js';
import { loadQuantizedWeights } from './quantizedWeights.js';
import { constantName, type QuantizedWeights } from './servingWeights.js';
import { decoderWeightShapes } from './weights.js';

/** Some widths are multiples of a block, others are not. */
const config = { ...tinyConfig, hiddenSize: 64, ffnSize: 96, tieWordEmbeddings: true, attentionBias: true };
const weights = randomWeights(config, 1);
const source = { config, reader: readerOf(weights), contentHash: 'sha256:0123' };

/** Collects all bytes in the order of the weights. */
async function bytesOf(quantized: QuantizedWeights): Promise<Buffer> {
  const blocks: Buffer[] = [];
  for (const [name, shape] of decoderWeightShapes(config)) {
    if (shape.length < 2) continue;
    for (const part of ['quantized', 'scales'] as const) {
      for await (const block of quantized.bytes(constantName(name, part))) blocks.push(Buffer.from(block));
    }
  }
  return Buffer.concat(blocks);
}

test('what was made is read again; what is damaged, or of another checkpoint, is made anew', async (t) => {
  const folder = join(await temporaryFolder(t), 'cache');
  const made = await bytesOf(await loadQuantizedWeights(source, 'q8', folder));
  assert.deepEqual(made, await bytesOf(await loadQuantizedWeights(source, 'q8', undefined)));
  const [name = ''] = await readdir(folder);
  assert.deepEqual(await readdir(folder), ['sha256-0123.q8.v2']);
  const file = join(folder, name);
  const bytes = await readFile(file);
  // This source has no weights, so they must come from the file.
  const gone = { ...source, reader: readerOf(new Map()) };
  assert.deepEqual(await bytesOf(await loadQuantizedWeights(gone, 'q8', folder)), made);

  const damaged = [bytes.subarray(0, -1), bytes.with(bytes.length - 5, bytes.at(-5)! ^ 1), bytes.subarray(0, 3)];
  for (const content of damaged) {
    await writeFile(file, content);
    assert.deepEqual(await bytesOf(await loadQuantizedWeights(source, 'q8', folder)), made);
    assert.deepEqual(await readFile(file), bytes);
  }
  await writeFile(join(folder, 'sha256-4567.q8.v2'), bytes);
  const other = { ...source, contentHash: 'sha256:4567', reader: readerOf(randomWeights(config, 2)) };
  assert.notDeepEqual(await bytesOf(await loadQuantizedWeights(other, 'q8', folder)), made);
  assert.notDeepEqual(await readFile(join(folder, 'sha256-4567.q8.v2')), bytes);
});

test('the same bytes in another file are read; what has changed is refused, and so is what is gone', async (t) => {
  const folder = await temporaryFolder(t);
  const quantized = await loadQuantizedWeights(source, 'q8', folder);
  const file = join(folder, 'sha256-0123.q8.v2');
  const bytes = await readFile(file);
  const made = await bytesOf(quantized);
  // Another process that started at the same time does this.
  await writeFile(`${file}.other`, bytes);
  await rename(`${file}.other`, file);
  assert.deepEqual(await bytesOf(quantized), made);
  await writeFile(file, bytes.with(50, bytes.at(50)! ^ 1));
  const later = new Date(Date.now() + 5000);
  await utimes(file, later, later);
  const refused = {
    name: 'EngineError',
    code: 'checkpoint_invalid',
    message: /sha256-0123\.q8\.v2 is not whole any more/,
  };
  await assert.rejects(bytesOf(quantized), refused);
  await rm(file);
  await assert.rejects(bytesOf(quantized), refused);
});

test('a folder that cannot be written costs no model, and is reported', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'file'), '');
  const warned = once(process, 'warning');
  const made = await loadQuantizedWeights(source, 'q4', join(folder, 'file'));
  const [{ message }] = (await warned) as [Error];
  assert.match(message, /quantised weights .* cannot be kept: .*file/);
  assert.deepEqual(await bytesOf(made), await bytesOf(await loadQuantizedWeights(source, 'q4', undefined)));
});

test('what a writer that died has left is removed, what may still be written is not', async (t) => {
  const folder = await temporaryFolder(t);
  const [old, fresh, foreign] = ['a.q8.v2.partial-0123456789ab', 'a.q8.v2.partial-456789abcdef', 'b.txt'];
  for (const name of [old, fresh, foreign]) await writeFile(join(folder, name), '');
  const yesterday = new Date(Date.now() - 24 * 60 * 60_000);
  for (const name of [old, foreign]) await utimes(join(folder, name), yesterday, yesterday);
  await loadQuantizedWeights(source, 'q8', folder);
  assert.deepEqual((await readdir(folder)).sort(), [fresh, foreign, 'sha256-0123.q8.v2'].sort());
  await utimes(join(folder, fresh), yesterday, yesterday);
  await loadQuantizedWeights(source, 'q8', folder);
  assert.deepEqual((await readdir(folder)).sort(), [foreign, 'sha256-0123.q8.v2'].sort());
});

test('weights that are not finite are refused by the name of their tensor', async (t) => {
  const name = 'model.layers.1.mlp.down_proj.weight';
  const folder = await temporaryFolder(t);
  for (const value of [NaN, Infinity, -Infinity]) {
    const { shape, data } = weights.get(name)!;
    const reader = readerOf(new Map(weights).set(name, { shape, data: data.with(5, value) }));
    for (const format of ['q8', 'q4'] as const) {
      await assert.rejects(loadQuantizedWeights({ ...source, reader }, format, folder), {
        name: 'EngineError',
        code: 'checkpoint_invalid',
        message: /^model\.layers\.1\.mlp\.down_proj\.weight holds .* not finite/,
      });
    }
  }
  assert.deepEqual(await readdir(folder), []);
});

test('the loss with 8 bits is within 0.02 nats a token of that with float32, with 4 bits within 0.2', async () => {
  const tokens = Array.from({ length: 40 }, (_, index) => (index * 29) % config.vocabularySize);
  const loss = async (quantized?: QuantizedWeights): Promise<number> => {
    const batch = await CachedBatch.open({ config, weights }, [null], quantized);
    let sum = 0;
    for (const [index, token] of tokens.slice(0, -1).entries()) {
      const [logits] = await batch.append([[token]]);
      sum -= logSoftmax(logits!)[tokens[index + 1]!]!;
    }
    return sum / (tokens.length - 1);
  };
  const exact = await loss();
  const shifts = [];
  for (const format of ['q8', 'q4'] as const) {
    shifts.push(Math.abs((await loss(await loadQuantizedWeights(source, format, undefined))) - exact));
  }
  assert.ok(shifts[0]! > 0 && shifts[0]! <= 0.02, `${shifts[0]}`);
  assert.ok(shifts[1]! > shifts[0]! && shifts[1]! <= 0.2, `${shifts[1]}`);
});

test('an engine generates with quantised weights, from the first start and from the file', async () => {
  await withRandomCheckpoint(async (folder) => {
    const options = { modelDir: join(folder, 'model'), threads: 1, cacheFolder: join(folder, 'cache') };
    const texts: string[] = [];
    for (let start = 0; start < 2; start += 1) {
      const engine = await EmbeddedEngine.open({ ...options, weightFormat: 'q8' });
      const prompt = { messages: [{ role: 'user' as const, content: 'Who built it?' }] };
      const requests = [1, 2, 3].map(() =>
        engine.generate({ prompt, adapter: null, maxOutputTokens: 20, temperature: 0 }),
      );
      texts.push(...(await Promise.all(requests)).map(({ text }) => text));
      await engine.close();
    }
    assert.equal(new Set(texts).size, 1);
    assert.equal((await readdir(join(folder, 'cache'))).length, 1);
    const wrong = { ...options, weightFormat: 'q5' as 'q4' };
    await assert.rejects(EmbeddedEngine.open(wrong), {
      code: 'invalid_request',
      message: /weightFormat .* f32, q8, q4/,
    });
  });
});
