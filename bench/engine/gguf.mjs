// Writes a checkpoint as GGUF version 3, the only format that llama.cpp reads, so that it computes with the same
// numbers.
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// Only the Qwen3 architecture: its rotation pairs the halves of a head as Hugging Face does, so that no matrix has to
// be permuted. Tokens are called by their numbers: both sides are given token ids, and llama.cpp loads nothing without
// names.
import { open } from 'node:fs/promises';

const alignment = 32;
const valueType = { uint32: 4, float32: 6, string: 8, strings: 9 };
/** Numbers that share a scale in Q8_0. */
const blockLength = 32;

const tensorNames = {
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  input_layernorm: 'attn_norm',
  post_attention_layernorm: 'ffn_norm',
};

/**
 * Norms are always F32, as llama.cpp wants them; `endToken` is the id at which it stops.
 * @param {string} file
 * @param {{
 *   config: import('../../packages/engine/dist/model/config.js').DecoderConfig,
 *   weights: import('../../packages/engine/dist/model/weights.js').DecoderWeights,
 *   precision: 'F32' | 'Q8_0',
 *   endToken: number,
 * }} model
 */
export async function writeGguf(file, { config, weights, precision, endToken }) {
  if (config.architecture !== 'qwen3' || config.ropeScaling.kind !== 'default') {
    throw new Error(`only a Qwen3 without rotary scaling can be written, not ${config.architecture}`);
  }
  const tensors = [...weights].map(([name, { shape, data }]) => {
    const type = shape.length > 1 ? precision : 'F32';
    return { name: tensorName(name), shape, type, bytes: type === 'F32' ? bytesOf(data) : quantizeQ8(data) };
  });
  const handle = await open(file, 'w');
  try {
    await handle.writeFile(header(metadata(config, endToken), tensors));
    for (const { bytes } of tensors) await handle.writeFile(padded(bytes));
  } finally {
    await handle.close();
  }
}

/** Hugging Face's name of a weight in llama.cpp's words. */
export function tensorName(name) {
  if (name === 'model.embed_tokens.weight') return 'token_embd.weight';
  if (name === 'model.norm.weight') return 'output_norm.weight';
  if (name === 'lm_head.weight') return 'output.weight';
  const [, layer, part] = /^model\.layers\.(\d+)\.(.+)\.weight$/.exec(name) ?? [];
  if (tensorNames[part] === undefined) throw new Error(`GGUF has no name for ${name}`);
  return `blk.${layer}.${tensorNames[part]}.weight`;
}

/** Blocks of a float16 scale and 32 signed bytes; the greatest magnitude of a block becomes 127. */
export function quantizeQ8(data) {
  if (data.length % blockLength !== 0) throw new Error(`${data.length} numbers are not whole blocks of ${blockLength}`);
  const bytes = Buffer.alloc((data.length / blockLength) * (2 + blockLength));
  for (let start = 0, at = 0; start < data.length; start += blockLength, at += 2 + blockLength) {
    let greatest = 0;
    for (let index = start; index < start + blockLength; index += 1)
      greatest = Math.max(greatest, Math.abs(data[index]));
    const scale = greatest / 127;
    bytes.writeUInt16LE(float16Bits(scale), at);
    for (let index = 0; index < blockLength; index += 1) {
      const quotient = scale === 0 ? 0 : data[start + index] / scale;
      bytes.writeInt8(Math.sign(quotient) * Math.round(Math.abs(quotient)), at + 2 + index);
    }
  }
  return bytes;
}

/** The bits of the float16 next to a number that is not negative, ties to even. */
export function float16Bits(value) {
  const [bits] = new Uint32Array(Float32Array.of(value).buffer);
  const exponent = (bits >>> 23) - 127;
  if (exponent > 15) return 0x7c00;
  // Below 2^-14 the spacing is 2^-24, whatever the exponent; a carry out of either mantissa is the next exponent's
  // zero.
  if (exponent < -14) return roundToEven(Math.fround(value) * 2 ** 24);
  return ((exponent + 15) << 10) + roundToEven((bits & 0x7fffff) / 2 ** 13);
}

function roundToEven(value) {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}

function metadata(config, endToken) {
  const { architecture } = config;
  return [
    ['general.architecture', 'string', architecture],
    [`${architecture}.block_count`, 'uint32', config.layers],
    [`${architecture}.context_length`, 'uint32', config.contextLength],
    [`${architecture}.embedding_length`, 'uint32', config.hiddenSize],
    [`${architecture}.feed_forward_length`, 'uint32', config.ffnSize],
    [`${architecture}.attention.head_count`, 'uint32', config.heads],
    [`${architecture}.attention.head_count_kv`, 'uint32', config.kvHeads],
    [`${architecture}.attention.key_length`, 'uint32', config.headDim],
    [`${architecture}.attention.value_length`, 'uint32', config.headDim],
    [`${architecture}.attention.layer_norm_rms_epsilon`, 'float32', config.rmsNormEps],
    [`${architecture}.rope.freq_base`, 'float32', config.ropeTheta],
    [`${architecture}.vocab_size`, 'uint32', config.vocabularySize],
    ['tokenizer.ggml.model', 'string', 'gpt2'],
    ['tokenizer.ggml.pre', 'string', 'default'],
    ['tokenizer.ggml.tokens', 'strings', Array.from({ length: config.vocabularySize }, (_, id) => String(id))],
    ['tokenizer.ggml.merges', 'strings', ['1 0']],
    ['tokenizer.ggml.eos_token_id', 'uint32', endToken],
  ];
}

function header(entries, tensors) {
  const parts = [Buffer.from('GGUF'), uint32(3), uint64(tensors.length), uint64(entries.length)];
  for (const [key, type, value] of entries) {
    parts.push(string(key), uint32(valueType[type]), encode(type, value));
  }
  let offset = 0;
  for (const { name, shape, type, bytes } of tensors) {
    // Dimensions are listed with the fastest one first.
    parts.push(string(name), uint32(shape.length), ...shape.toReversed().map(uint64));
    parts.push(uint32(type === 'F32' ? 0 : 8), uint64(offset));
    offset += padded(bytes).length;
  }
  return padded(Buffer.concat(parts));
}

function encode(type, value) {
  switch (type) {
    case 'uint32':
      return uint32(value);
    case 'float32':
      return bytesOf(Float32Array.of(value));
    case 'string':
      return string(value);
    case 'strings':
      return Buffer.concat([uint32(valueType.string), uint64(value.length), ...value.map(string)]);
    default:
      throw new Error(`no such type of value: ${type}`);
  }
}

function padded(bytes) {
  const missing = (alignment - (bytes.length % alignment)) % alignment;
  return missing === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(missing)]);
}

function bytesOf(data) {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

function string(text) {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
