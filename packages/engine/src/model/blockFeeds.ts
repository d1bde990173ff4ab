/** The inputs that carry quantised matrices into graphs over whole sequences. */
import { Tensor } from '../onnx/tensor.js';
import { sharedBytes, sharedFloats } from '../support/threadMemory.js';
import { pieceBlocks, piecesOf } from './blockMatrix.js';
import type { DecoderConfig } from './config.js';
import type { Feeds } from './inputs.js';
import { blockFormats, packedSizes, type QuantizedFormat } from './quantization.js';
import { matrices } from './quantizedWeights.js';
import { constantName, type QuantizedWeights } from './servingWeights.js';

/** Flips the highest bit of each number, four bytes at once. That turns unsigned offsets into signed numbers. */
const signBits: Readonly<Record<QuantizedFormat, number>> = { q8: 0x80808080, q4: 0x88888888 };

/**
 * All quantised matrices of a model, in memory that threads can share, for `BlockMatrix`.
 * @throws EngineError `checkpoint_invalid` when they can no longer be read.
 */
export async function blockFeeds(config: DecoderConfig, quantized: QuantizedWeights): Promise<Feeds> {
  const feeds: Record<string, Tensor> = {};
  for (const [name, shape] of matrices(config)) {
    const [out, width] = shape;
    const { blocks, blockBytes } = packedSizes(quantized.format, width);
    const codes = sharedBytes(out * blocks * blockBytes);
    await readInto(codes, quantized.bytes(constantName(name, 'quantized')));
    const scales = sharedFloats(out * blocks);
    await readInto(new Uint8Array(scales.buffer), quantized.bytes(constantName(name, 'scales')));
    Object.assign(feeds, matrixFeeds(name, shape, { format: quantized.format, codes, scales }));
  }
  return feeds;
}

interface Blocks {
  readonly format: QuantizedFormat;
  /** Codes and scales as in `QuantizedMatrix`. They are changed in place. */
  readonly codes: Uint8Array;
  readonly scales: Float32Array;
}

/** Feeds of one matrix over the given memory. */
export function matrixFeeds(
  name: string,
  shape: readonly [number, number],
  { format, codes, scales }: Blocks,
  maxNumbers?: number,
): Feeds {
  const words = new Uint32Array(codes.buffer, codes.byteOffset, codes.byteLength / Uint32Array.BYTES_PER_ELEMENT);
  for (let index = 0; index < words.length; index += 1) words[index] = (words[index] ?? 0) ^ signBits[format];
  const signed = new Int8Array(codes.buffer, codes.byteOffset, codes.byteLength);
  const { bits, blockSize } = blockFormats[format];
  const { blocks, blockBytes } = packedSizes(format, shape[1]);
  const feeds: Record<string, Tensor> = {};
  for (const piece of piecesOf(name, shape, maxNumbers)) {
    const [from, to] = [piece.start * blocks, piece.end * blocks];
    const count = pieceBlocks(piece, format, shape[1]);
    const own = signed.subarray(from * blockBytes, to * blockBytes);
    feeds[piece.codes] = new Tensor(own, [count, blockSize], bits === 4 ? 2 : 1);
    feeds[piece.scales] = new Tensor(scales.subarray(from, to), [count]);
  }
  return feeds;
}

async function readInto(place: Uint8Array, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  let done = 0;
  for await (const block of bytes) {
    place.set(block, done);
    done += block.byteLength;
  }
}
