import { blockFormats, packedSizes, type QuantizedFormat, type QuantizedMatrix } from '../model/quantization.js';

/** Dequantises number by number, straight from the description of `MatMulNBits`. */
export function dequantize(
  format: QuantizedFormat,
  { quantized, scales }: QuantizedMatrix,
  out: number,
  width: number,
): number[][] {
  const { bits, blockSize } = blockFormats[format];
  const { blocks, blockBytes } = packedSizes(format, width);
  return Array.from({ length: out }, (_, line) =>
    Array.from({ length: width }, (__, column) => {
      const block = line * blocks + Math.floor(column / blockSize);
      const bit = (column % blockSize) * bits;
      const byte = quantized[block * blockBytes + Math.floor(bit / 8)] ?? 0;
      return (((byte >> (bit % 8)) & (2 ** bits - 1)) - 2 ** (bits - 1)) * (scales[block] ?? 0);
    }),
  );
}
