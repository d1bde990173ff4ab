/** Matrices as 8-bit integers, for `IntegerMatrix`. */
import { Tensor, type Tensors } from '../onnx/tensor.js';
import { sharedBytes, sharedFloats } from '../support/threadMemory.js';

/** The greatest code. The range is symmetric. */
export const maxCode = 127;

/** Second codes count in this part of the first ones' scale, as what rounding leaves is at most half of a first one. */
export const secondShare = 1 / (2 * maxCode);

/** Names of the graph inputs of a matrix, see `integerFeeds`. */
export function integerNames(name: string) {
  return {
    first: `${name}.first`,
    both: `${name}.both`,
    scales: `${name}.scales`,
    back: `${name}.back`,
    backScales: `${name}.back.scales`,
  } as const;
}

/**
 * The inputs of a matrix `[out, width]`, in memory that threads can share.
 * - `both` int8 `[2 * width, out]` has two codes of each number, the second for what the first leaves, and `first`
 *   `[width, out]` is its first half. `scales` `[out]` are those of the first codes.
 * - `back` int8 `[out, width]` has one code of each number, and `backScales` `[width]` their scales.
 */
export function integerFeeds(name: string, data: Float32Array, [out, width]: readonly [number, number]): Tensors {
  const scales = rowScales(data, out, width);
  const backScales = columnScales(data, out, width);
  const [both, back] = [int8Memory(2 * width * out), int8Memory(out * width)];
  // Both halves are transposed, in tiles whose lines stay in the processor's cache.
  for (let top = 0; top < out; top += tileSide) {
    for (let left = 0; left < width; left += tileSide) {
      const bottom = Math.min(out, top + tileSide);
      const right = Math.min(width, left + tileSide);
      for (let row = top; row < bottom; row += 1) {
        const scale = scales[row] ?? 0;
        const [perScale, perSecondScale] = [1 / scale, 1 / (scale * secondShare)];
        for (let column = left; column < right; column += 1) {
          const index = row * width + column;
          const value = data[index] ?? 0;
          const code = nearest(value * perScale);
          both[column * out + row] = code;
          both[(width + column) * out + row] = clamped(nearest((value - code * scale) * perSecondScale));
          back[index] = clamped(nearest(value / (backScales[column] ?? 1)));
        }
      }
    }
  }
  const names = integerNames(name);
  return {
    [names.first]: new Tensor(both.subarray(0, width * out), [width, out]),
    [names.both]: new Tensor(both, [2 * width, out]),
    [names.scales]: new Tensor(scales, [out]),
    [names.back]: new Tensor(back, [out, width]),
    [names.backScales]: new Tensor(backScales, [width]),
  };
}

const tileSide = 64;

/** Adding this leaves a float64 no bits below 1. */
const wholeBits = 1.5 * 2 ** 52;

/** `Math.round` takes twice as long. */
function nearest(value: number): number {
  return value + wholeBits - wholeBits;
}

function clamped(code: number): number {
  return Math.max(-maxCode, Math.min(maxCode, code));
}

function rowScales(data: Float32Array, out: number, width: number): Float32Array<SharedArrayBuffer> {
  const scales = sharedFloats(out);
  for (let row = 0; row < out; row += 1) {
    let greatest = 0;
    for (let index = row * width; index < (row + 1) * width; index += 1) {
      greatest = Math.max(greatest, Math.abs(data[index] ?? 0));
    }
    scales[row] = scaleOf(greatest);
  }
  return scales;
}

function columnScales(data: Float32Array, out: number, width: number): Float32Array<SharedArrayBuffer> {
  const greatest = sharedFloats(width);
  for (let row = 0; row < out; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const value = Math.abs(data[row * width + column] ?? 0);
      if (value > (greatest[column] ?? 0)) greatest[column] = value;
    }
  }
  for (let column = 0; column < width; column += 1) greatest[column] = scaleOf(greatest[column] ?? 0);
  return greatest;
}

/** 1 where all numbers are 0, since codes are divided by it. */
function scaleOf(greatest: number): number {
  return greatest === 0 ? 1 : greatest / maxCode;
}

function int8Memory(count: number): Int8Array<SharedArrayBuffer> {
  return new Int8Array(sharedBytes(count).buffer);
}
