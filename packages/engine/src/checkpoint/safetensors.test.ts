import assert from 'node:assert/strict';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { createRandom } from '../support/random.js';
import { temporaryFolder } from '../testing/fixtures.js';
import { EngineError } from '../engine.js';
import {
  readBlocks,
  readHeader,
  readHeaderFrom,
  readTensor,
  readTensorFrom,
  serializeSafetensors,
} from './safetensors.js';

const context = { code: 'adapter_invalid', file: 'file' } as const;
const sample = serializeSafetensors(
  [
    ['a', { shape: [2, 2], data: Float32Array.of(1, -2, 3.5, 0) }],
    ['empty', { shape: [0], data: new Float32Array() }],
    ['b', { shape: [], data: Float32Array.of(7) }],
  ],
  { format: 'pt' },
);

/** Makes a file of this header and `dataBytes` zeros after it. */
function withHeader(header: unknown, dataBytes: number): Buffer {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(json.byteLength));
  return Buffer.concat([prefix, json, Buffer.alloc(dataBytes)]);
}

function entry(dtype: unknown, shape: unknown, offsets: unknown): object {
  return { dtype, shape, data_offsets: offsets };
}

void test('what is written can be read, from memory and from disk', async (t) => {
  const entries = readHeaderFrom(sample, context);
  assert.deepEqual(
    entries.map(({ name, shape }) => [name, shape]),
    [
      ['a', [2, 2]],
      ['empty', [0]],
      ['b', []],
    ],
  );
  assert.deepEqual(readTensorFrom(sample, entries[0]!), Float32Array.of(1, -2, 3.5, 0));
  const file = path.join(await temporaryFolder(t), 'sample.safetensors');
  await writeFile(file, sample);
  const handle = await open(file);
  t.after(() => handle.close());
  assert.deepEqual(await readHeader(handle, context), entries);
  const place = new Float32Array(3);
  await readTensor(handle, entries[2]!, context, place.subarray(1, 2));
  assert.deepEqual(place, Float32Array.of(0, 7, 0));
  await assert.rejects(readTensor(handle, entries[2]!, context, place), { code: context.code, message: /changed/ });
});

test('a tensor read in blocks has the same numbers, whatever the blocks and the type', async (t) => {
  const random = createRandom(1);
  const file = withHeader(
    { single: entry('F32', [5, 3], [0, 60]), half: entry('F16', [10], [60, 80]), brain: entry('BF16', [7], [80, 94]) },
    94,
  );
  // These bits are a finite number in each of the types.
  for (let at = file.byteLength - 94; at < file.byteLength; at += 2) {
    file.writeUInt16LE(Math.floor(random.next() * 2 ** 14), at);
  }
  const name = path.join(await temporaryFolder(t), 'sample.safetensors');
  await writeFile(name, file);
  const handle = await open(name);
  t.after(() => handle.close());
  for (const tensor of await readHeader(handle, context)) {
    const whole = [...readTensorFrom(file, tensor)];
    for (const blockLength of [1, 4, 5, 1000]) {
      const lengths: number[] = [];
      const numbers: number[] = [];
      for await (const block of readBlocks(handle, tensor, context, blockLength)) {
        lengths.push(block.length);
        numbers.push(...block);
      }
      assert.deepEqual(numbers, whole);
      assert.ok(lengths.slice(0, -1).every((length) => length === blockLength) && lengths.at(-1)! <= blockLength);
    }
  }
});

void test('F16 and BF16 are widened, special values included', () => {
  const halves = [0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0xfc00, 0x8000];
  const brains = [0x3f80, 0xc000, 0x7f80];
  const file = withHeader({ half: entry('F16', [7], [0, 14]), brain: entry('BF16', [3], [14, 20]) }, 20);
  const data = file.subarray(file.byteLength - 20);
  [...halves, ...brains].forEach((bits, index) => data.writeUInt16LE(bits, index * 2));
  const [half, brain] = readHeaderFrom(file, context);
  assert.deepEqual([...readTensorFrom(file, half!)], [1, -2, 2 ** -24, 65504, Infinity, -Infinity, -0]);
  assert.deepEqual([...readTensorFrom(file, brain!)], [1, -2, Infinity]);
});

const damaged: readonly (readonly [string, Buffer, RegExp])[] = [
  ['nothing', Buffer.alloc(0), /header length/],
  ['half a header length', Buffer.alloc(5), /header length/],
  ['a header beyond the end', Buffer.from('ff00000000000000', 'hex'), /header length 255 is out of range/],
  ['a header of 2^63 bytes', Buffer.from('0000000000000080', 'hex'), /header length/],
  ['a header that is not JSON', withHeader('{', 0), /not JSON/],
  ['a header that is not UTF-8', Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 0xff])]), /not JSON/],
  ['a header that is a list', withHeader('[]', 0), /not an object/],
  ['an entry that is null', withHeader({ w: null }, 0), /entry w/],
  ['an unknown type', withHeader({ w: entry('I64', [1], [0, 8]) }, 8), /"I64" of w/],
  ['a type of an odd kind', withHeader({ w: entry({}, [1], [0, 4]) }, 4), /of w/],
  ['a type that is a property of objects', withHeader({ w: entry('constructor', [1], [0, 4]) }, 4), /of w/],
  ['a negative size', withHeader({ w: entry('F32', [-1], [0, 4]) }, 4), /shape of w/],
  ['a broken size', withHeader({ w: entry('F32', [0.5], [0, 2]) }, 2), /shape of w/],
  ['one offset', withHeader({ w: entry('F32', [1], [0]) }, 4), /offsets of w/],
  ['offsets that run backwards', withHeader({ w: entry('F32', [1], [4, 0]) }, 4), /offsets of w/],
  ['offsets beyond the end', withHeader({ w: entry('F32', [2], [0, 8]) }, 4), /end at byte/],
  ['offsets that do not fit the shape', withHeader({ w: entry('F32', [2], [0, 4]) }, 4), /do not fit its shape/],
  [
    'a product of sizes beyond all numbers',
    withHeader({ w: entry('F32', [2 ** 52, 2 ** 52], [0, 4]) }, 4),
    /do not fit/,
  ],
  ['a gap', withHeader({ w: entry('F32', [1], [4, 8]) }, 8), /gap or overlap/],
  ['an overlap', withHeader({ v: entry('F32', [1], [0, 4]), w: entry('F32', [1], [0, 4]) }, 4), /gap or overlap/],
  ['bytes after the last tensor', withHeader({ w: entry('F32', [1], [0, 4]) }, 5), /end at byte/],
];

for (const [name, bytes, message] of damaged) {
  void test(`refused: ${name}`, () => {
    assert.throws(() => readHeaderFrom(bytes, context), { name: 'EngineError', code: 'adapter_invalid', message });
  });
}

void test('a file with random bytes changed is read or refused, and nothing else happens', () => {
  const random = createRandom(3);
  const headerEnd = 8 + Number(sample.readBigUInt64LE());
  for (let round = 0; round < 2000; round += 1) {
    const bytes = Buffer.from(sample);
    bytes[Math.floor(random.next() * headerEnd)] = Math.floor(random.next() * 256);
    try {
      for (const found of readHeaderFrom(bytes, context)) readTensorFrom(bytes, found);
    } catch (error) {
      assert.ok(error instanceof EngineError, String(error));
    }
  }
});
