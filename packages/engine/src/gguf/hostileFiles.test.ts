/** Every GGUF file, however damaged, is imported or refused by an error that names the file. Refusals leave nothing. */
import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { EngineError } from '../engine.js';
import { temporaryFolder } from '../testing/fixtures.js';
import { ggufFixture } from '../testing/ggufFixtures.js';
import { damagedBytes, readOrRefused } from '../testing/hostile.js';
import { canMakeNamedPipe, makeNamedPipe } from '../testing/namedPipe.js';
import { withGguf } from './ggufFile.js';
import { importGguf } from './importGguf.js';

/** Imports the bytes and checks that the folder can be opened or does not exist. Returns whether it exists. */
async function importedOrRefused(scratch: string, bytes: Uint8Array): Promise<boolean> {
  const [file, folder] = [join(scratch, 'damaged.gguf'), join(scratch, 'out')];
  await writeFile(file, bytes);
  const model = await readOrRefused(() => importGguf({ file, folder }), ['checkpoint_invalid'], /^damaged\.gguf/);
  assert.deepEqual(await readdir(scratch), model === undefined ? ['damaged.gguf'] : ['damaged.gguf', 'out']);
  if (model === undefined) return false;
  // Damage may change any number, even the weight of a norm, so this checks only that the model can be opened.
  await openCheckpoint(folder);
  await rm(folder, { recursive: true });
  return true;
}

for (const name of ['k-quants', 'mistral']) {
  void test(`${name}.gguf with any bytes changed is imported or refused`, async (t) => {
    const scratch = await temporaryFolder(t);
    const original = await readFile(ggufFixture(`${name}.gguf`));
    const outcomes = new Set<boolean>();
    // The header is a small part of the file, so half of the damage goes to the first bytes.
    const files = fc.oneof(
      damagedBytes(original),
      damagedBytes(original.subarray(0, 2000)).map((head) => Buffer.concat([head, original.subarray(2000)])),
    );
    await fc.assert(
      fc.asyncProperty(files, async (bytes) => {
        outcomes.add(await importedOrRefused(scratch, bytes));
      }),
      { numRuns: 120, includeErrorInReport: true },
    );
    assert.deepEqual(outcomes, new Set([true, false]));
  });
}

void test('a file that was cut off anywhere is refused', async (t) => {
  const scratch = await temporaryFolder(t);
  const original = await readFile(ggufFixture('k-quants.gguf'));
  const anywhere = fc.nat({ max: original.byteLength - 1 });
  await fc.assert(
    fc.asyncProperty(fc.oneof(anywhere, fc.nat({ max: 3000 })), async (length) => {
      assert.equal(await importedOrRefused(scratch, original.subarray(0, length)), false);
    }),
    { numRuns: 120, includeErrorInReport: true },
  );
});

void test('bytes at random are no GGUF file, whatever they begin with', async (t) => {
  const scratch = await temporaryFolder(t);
  const beginnings = fc.constantFrom(
    '',
    'GGUF',
    'GGUF\x03\0\0\0',
    'GGUF\x03\0\0\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0',
  );
  await fc.assert(
    fc.asyncProperty(beginnings, fc.uint8Array({ maxLength: 400 }), async (beginning, bytes) => {
      const file = Buffer.concat([Buffer.from(beginning, 'latin1'), bytes]);
      assert.equal(await importedOrRefused(scratch, file), false);
    }),
    { numRuns: 200, includeErrorInReport: true },
  );
});

const read = (path: string): Promise<void> => withGguf(path, () => Promise.resolve());

void test('what is no GGUF file of today is refused by what it is', async (t) => {
  const scratch = await temporaryFolder(t);
  const file = join(scratch, 'some.gguf');
  const header = (version: number): Buffer => {
    const bytes = Buffer.alloc(24);
    bytes.write('GGUF');
    bytes.writeUInt32LE(version, 4);
    return bytes;
  };
  const refused: readonly (readonly [Uint8Array, RegExp])[] = [
    [Buffer.from('lmgg'), /some\.gguf is not a whole GGUF file: it does not begin with GGUF/],
    [header(1), /its version must be 2 or 3, but is 1/],
    [header(3 << 24), /\(it is big-endian\)/],
  ];
  for (const [bytes, message] of refused) {
    await writeFile(file, bytes);
    await assert.rejects(read(file), message);
  }
  await assert.rejects(read(join(scratch, 'none.gguf')), /none\.gguf is missing/);
  await assert.rejects(read(scratch), /is not a file/);
  if (canMakeNamedPipe) {
    const pipe = join(scratch, 'pipe.gguf');
    makeNamedPipe(pipe);
    await assert.rejects(read(pipe), /pipe\.gguf is not a file/);
  }
});

void test('absurd counts cost no memory', async (t) => {
  const file = join(await temporaryFolder(t), 'many.gguf');
  const bytes = Buffer.alloc(64);
  bytes.write('GGUF');
  bytes.writeUInt32LE(3, 4);
  bytes.writeBigUInt64LE(9_999_999n, 8);
  await writeFile(file, bytes);
  const before = process.memoryUsage().rss;
  await assert.rejects(read(file), /many\.gguf is not a whole GGUF file: it has 64 bytes/);
  assert.ok(process.memoryUsage().rss - before < 2 ** 26);
});

void test('another kind of model, and tensors that are missing or too many, are refused by their names', async (t) => {
  const scratch = await temporaryFolder(t);
  const [file, folder] = [join(scratch, 'some.gguf'), join(scratch, 'out')];
  const original = await readFile(ggufFixture('k-quants.gguf'));
  const changed = async (from: string, to: string): Promise<void> => {
    const bytes = Buffer.from(original);
    const at = bytes.indexOf(from);
    assert.ok(at > 0 && from.length === to.length);
    bytes.write(to, at);
    await writeFile(file, bytes);
  };
  await changed(
    'general.architecture\x08\0\0\0\x05\0\0\0\0\0\0\0llama',
    'general.architecture\x08\0\0\0\x05\0\0\0\0\0\0\0gemma',
  );
  await assert.rejects(importGguf({ file, folder }), /general\.architecture must be one of llama, .* but is "gemma"/);
  await changed('blk.0.attn_v.weight', 'blk.0.attn_v.weighs');
  await assert.rejects(
    importGguf({ file, folder }),
    /the tensor blk\.0\.attn_v\.weighs is not part of a llama decoder/,
  );
  await changed('blk.0.attn_v.weight', 'blk.0.attn_k.weight');
  await assert.rejects(importGguf({ file, folder }), /the tensor "blk\.0\.attn_k\.weight" is there twice/);
  await changed('llama.block_count\x04\0\0\0\x01', 'llama.block_count\x04\0\0\0\x02');
  await assert.rejects(importGguf({ file, folder }), /9 tensors are missing, among them that of model\.layers\.1\./);
  const parts = original.indexOf('tokenizer.ggml.eos_token_id') - 8;
  const key = Buffer.from('\x0b\0\0\0\0\0\0\0split.count\x04\0\0\0\x03\0\0\0', 'latin1');
  const more = Buffer.concat([original.subarray(0, parts), key, original.subarray(parts)]);
  more.writeBigUInt64LE(more.readBigUInt64LE(16) + 1n, 16);
  await writeFile(file, more);
  await assert.rejects(
    importGguf({ file, folder }),
    /split\.count must be 1 \(llama-gguf-split --merge joins the parts\)/,
  );
  assert.deepEqual(await readdir(scratch), ['some.gguf']);
});

void test('a type that cannot be read is refused by its name, with those that can', async (t) => {
  const file = join(await temporaryFolder(t), 'types.gguf');
  const bytes = await readFile(ggufFixture('types.gguf'));
  // The name is followed by the number of dimensions, two dimensions and the type.
  const at = bytes.indexOf('Q8_0') + 4 + 4 + 16;
  assert.equal(bytes.readUInt32LE(at), 8);
  bytes.writeUInt32LE(11, at);
  await writeFile(file, bytes);
  await assert.rejects(read(file), (error) => {
    assert.ok(error instanceof EngineError && error.code === 'checkpoint_invalid');
    assert.match(error.message, /the type of "Q8_0" must be one of F32, F16, Q4_0, .*, Q6_K, BF16, but is Q3_K/);
    return true;
  });
});
