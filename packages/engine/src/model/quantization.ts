/**
 * Weights in blocks of 4 or 8 bits, as ONNX Runtime's `MatMulNBits` reads them
 * (https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MatMulNBits). Each row of
 * a matrix is cut into blocks. A block has a float32 scale and unsigned integers, of which the middle one means 0.
 */

export const weightFormats = ['f32', 'q8', 'q4'] as const;
/** How the matrices of generation are kept: float32, or blocks of 8 or 4 bits. */
export type WeightFormat = (typeof weightFormats)[number];
export type QuantizedFormat = Exclude<WeightFormat, 'f32'>;

/** How graphs over whole sequences are fed the matrices: as they are kept, or in the codes of `integerFeeds`. */
export type MatrixFormat = WeightFormat | 'integers';

/** Whether matrices are kept in blocks of few bits. */
export function isQuantized(format: MatrixFormat): format is QuantizedFormat {
  return format === 'q8' || format === 'q4';
}

export interface BlockFormat {
  /** Bits of each number. */
  readonly bits: number;
  /** The number of elements of a block, a power of 2. */
  readonly blockSize: number;
}

/**
 * Larger blocks make products faster, because these stop to scale after each block. They also make numbers coarser, and
 * 4 bits have no precision to spare. From 128 numbers at 8 bits, and 64 at 4 bits, ONNX Runtime with AVX-512 computes
 * the last of an odd number of rows differently from the others. Then an answer would depend on the rest of its batch.
 */
export const blockFormats: Readonly<Record<QuantizedFormat, BlockFormat>> = {
  q8: { bits: 8, blockSize: 64 },
  q4: { bits: 4, blockSize: 32 },
};

/** A matrix `[out, in]` in blocks. */
export interface QuantizedMatrix {
  /** `[out, blocks, blockBytes]`. Two 4-bit numbers share a byte, the first in the lower half. */
  readonly quantized: Uint8Array;
  /** `[out, blocks]` */
  readonly scales: Float32Array;
}

/** The number of blocks in a row, the last padded with zeros, and the bytes of one block. */
export function packedSizes(format: QuantizedFormat, width: number): { blocks: number; blockBytes: number } {
  const { bits, blockSize } = blockFormats[format];
  return { blocks: Math.ceil(width / blockSize), blockBytes: (blockSize * bits) / 8 };
}

/**
 * Rounds a matrix `[out, width]`. The block's number of greatest magnitude becomes the lowest integer. The lowest is
 * one step farther from the middle than the highest, so the whole range is used.
 */
export function quantize(format: QuantizedFormat, data: Float32Array, width: number): QuantizedMatrix {
  const { blocks, blockBytes } = packedSizes(format, width);
  const lines = data.length / width;
  const quantized = new Uint8Array(lines * blocks * blockBytes);
  const scales = new Float32Array(lines * blocks);
  const { bits, blockSize } = blockFormats[format];
  const middle = 2 ** (bits - 1);
  for (let block = 0; block < scales.length; block += 1) {
    const line = Math.floor(block / blocks);
    const start = line * width + (block % blocks) * blockSize;
    const end = Math.min(start + blockSize, (line + 1) * width);
    const scale = Math.fround(greatest(data, start, end) / -middle);
    scales[block] = scale;
    const inverse = scale === 0 ? 0 : 1 / scale;
    for (let index = 0; index < blockSize; index += 1) {
      const value = start + index < end ? (data[start + index] ?? 0) * inverse : 0;
      const code = Math.min(2 * middle - 1, Math.max(0, Math.round(value) + middle));
      // Bits are counted from the beginning of the block.
      const bit = index * bits;
      const byte = block * blockBytes + (bit >> 3);
      quantized[byte] = (quantized[byte] ?? 0) | (code << (bit & 7));
    }
  }
  return { quantized, scales };
}

/** The number of greatest magnitude, with its sign. */
function greatest(data: Float32Array, start: number, end: number): number {
  let result = 0;
  for (let index = start; index < end; index += 1) {
    const value = data[index] ?? 0;
    if (Math.abs(value) > Math.abs(result)) result = value;
  }
  return result;
}
