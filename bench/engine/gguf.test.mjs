import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { decoderWeightShapes } from '../../packages/engine/dist/model/weights.js';
import { float16Bits, quantizeQ8, tensorName, writeGguf } from './gguf.mjs';

const tinyConfig = {
  architecture: 'qwen3',
  vocabularySize: 6,
  hiddenSize: 32,
  layers: 1,
  heads: 2,
  kvHeads: 1,
  headDim: 16,
  ffnSize: 64,
  rmsNormEps: 1e-6,
  ropeTheta: 1e4,
  ropeScaling: { kind: 'default' },
  tieWordEmbeddings: true,
  contextLength: 128,
  qkNorm: true,
  attentionBias: false,
};

function weightsOf(config) {
  let next = 0;
  return new Map(
    [...decoderWeightShapes(config)].map(([name, shape]) => [
      name,
      { shape, data: Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => Math.sin((next += 1))) },
    ]),
  );
}

/** A reader of its own, after the format's description. */
function read(bytes) {
  let at = 0;
  const uint32 = () => bytes.readUInt32LE((at += 4) - 4);
  const uint64 = () => Number(bytes.readBigUInt64LE((at += 8) - 8));
  const string = () => {
    const length = uint64();
    return bytes.toString('utf8', at, (at += length));
  };
  const value = (type) => {
    if (type === 4) return uint32();
    if (type === 6) return bytes.readFloatLE((at += 4) - 4);
    if (type === 8) return string();
    assert.equal(type, 9);
    const element = uint32();
    return Array.from({ length: uint64() }, () => value(element));
  };
  assert.equal(bytes.toString('latin1', 0, (at += 4)), 'GGUF');
  assert.equal(uint32(), 3);
  const [tensorCount, entryCount] = [uint64(), uint64()];
  const metadata = Object.fromEntries(
    Array.from({ length: entryCount }, () => {
      const key = string();
      return [key, value(uint32())];
    }),
  );
  const tensors = Array.from({ length: tensorCount }, () => {
    const name = string();
    const dimensions = Array.from({ length: uint32() }, uint64);
    return { name, dimensions, type: uint32(), offset: uint64() };
  });
  const dataStart = Math.ceil(at / 32) * 32;
  return {
    metadata,
    tensors,
    data: ({ offset }, length) => bytes.subarray(dataStart + offset, dataStart + offset + length),
  };
}

async function written(precision, config = tinyConfig) {
  const folder = mkdtempSync(join(tmpdir(), 'engraft-gguf-'));
  try {
    const weights = weightsOf(config);
    await writeGguf(join(folder, 'model.gguf'), { config, weights, precision, endToken: 2 });
    const bytes = readFileSync(join(folder, 'model.gguf'));
    return { bytes, weights, ...read(bytes) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('an F32 file holds every weight, aligned, with its dimensions reversed', async () => {
  const { metadata, tensors, weights, data, bytes } = await written('F32');
  assert.equal(metadata['general.architecture'], 'qwen3');
  assert.equal(metadata['qwen3.attention.head_count_kv'], 1);
  assert.equal(metadata['qwen3.attention.key_length'], 16);
  assert.equal(metadata['qwen3.rope.freq_base'], 1e4);
  assert.equal(metadata['tokenizer.ggml.tokens'].length, 6);
  assert.equal(metadata['tokenizer.ggml.eos_token_id'], 2);
  assert.equal(bytes.length % 32, 0);
  assert.equal(tensors.length, weights.size);
  for (const [name, { shape, data: values }] of weights) {
    const tensor = tensors.find((each) => each.name === tensorName(name));
    assert.deepEqual(tensor.dimensions, shape.toReversed(), name);
    assert.equal(tensor.type, 0);
    assert.equal(tensor.offset % 32, 0);
    const stored = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    assert.ok(data(tensor, values.byteLength).equals(stored), name);
  }
});

test('a Q8_0 file has its matrices in blocks, and its norms as they are', async () => {
  const { tensors, weights, data } = await written('Q8_0');
  for (const [name, { shape, data: values }] of weights) {
    const tensor = tensors.find((each) => each.name === tensorName(name));
    assert.equal(tensor.type, shape.length > 1 ? 8 : 0, name);
    assert.equal(tensor.offset % 32, 0);
    if (shape.length > 1) assert.ok(data(tensor, (values.length / 32) * 34).equals(quantizeQ8(values)), name);
  }
});

test('names are those of llama.cpp, and an unknown one is refused', () => {
  assert.equal(tensorName('model.layers.12.mlp.down_proj.weight'), 'blk.12.ffn_down.weight');
  assert.equal(tensorName('lm_head.weight'), 'output.weight');
  assert.throws(() => tensorName('model.layers.0.self_attn.q_proj.bias'));
});

test('what would be read wrongly is refused', async () => {
  await assert.rejects(written('F32', { ...tinyConfig, architecture: 'llama' }), /only a Qwen3/);
  await assert.rejects(written('F32', { ...tinyConfig, ropeScaling: { kind: 'linear', factor: 2 } }), /only a Qwen3/);
  assert.throws(() => quantizeQ8(new Float32Array(33)), /whole blocks/);
});

test('float16 is the nearest one, ties to even, down to the smallest and up to infinity', () => {
  // Expected bits: numpy.float16(x).view(numpy.uint16).
  const cases = [
    [0, 0x0000],
    [1, 0x3c00],
    [0.1, 0x2e66],
    [1 / 3, 0x3555],
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [2047.9, 0x6800],
    [65504, 0x7bff],
    [65520, 0x7c00],
    [1e6, 0x7c00],
    [2 ** -14, 0x0400],
    [2 ** -24, 0x0001],
    [2 ** -25, 0x0000],
    [3 * 2 ** -25, 0x0002],
    [6.1e-5, 0x03ff],
  ];
  for (const [value, bits] of cases) assert.equal(float16Bits(value), bits, `${value}`);
});

test('a block of Q8_0 keeps its values to half a step of its scale', () => {
  const values = Float32Array.from({ length: 96 }, (_, index) => (index < 32 ? 0 : Math.sin(index) * index));
  const bytes = quantizeQ8(values);
  assert.equal(bytes.length, 3 * 34);
  assert.ok(
    bytes.subarray(0, 34).every((byte) => byte === 0),
    'a block of zeros has no scale to divide by',
  );
  for (let block = 1; block < 3; block += 1) {
    const greatest = Math.max(...values.subarray(block * 32, block * 32 + 32).map(Math.abs));
    const scale = greatest / 127;
    const levels = Array.from({ length: 32 }, (_, index) => bytes.readInt8(block * 34 + 2 + index));
    assert.equal(Math.max(...levels.map(Math.abs)), 127);
    levels.forEach((level, index) => {
      const error = Math.abs(level * scale - values[block * 32 + index]);
      assert.ok(error <= scale * 0.5001, `${error} against a scale of ${scale}`);
    });
  }
});
