/** The K-quants: blocks of 256 numbers in parts of 32 or 16, whose scales are small integers. */
import { halfToNumber } from '../checkpoint/halfPrecision.js';
import type { BlockFormat } from './blockFormat.js';

/** Q4_K and Q5_K have eight parts. Their scales and minimums take 12 bytes. */
const blockParts = 8;
const scaleBytes = 12;

const sharedParts = { length: 256, exactType: 'F32' } as const;

/** Formats by ggml's number. */
export const kQuants: readonly (readonly [number, BlockFormat])[] = [
  [12, { ...sharedParts, name: 'Q4_K', bytes: 144, decode: decodeQ4K }],
  [13, { ...sharedParts, name: 'Q5_K', bytes: 176, decode: decodeQ5K }],
  [14, { ...sharedParts, name: 'Q6_K', bytes: 210, decode: decodeQ6K }],
];

function decodeQ4K(view: DataView, at: number, place: Float32Array, index: number): void {
  const numbers = at + 4 + scaleBytes;
  for (let part = 0; part < blockParts; part += 1) {
    const { scale, least } = scaleAndLeast(view, at, part);
    for (let number = 0; number < 32; number += 1) {
      place[index + part * 32 + number] = scale * fourBits(view, numbers, part, number) - least;
    }
  }
}

/** Like Q4_K. The fifth bits of the numbers at one position of all parts are the bits of one byte. */
function decodeQ5K(view: DataView, at: number, place: Float32Array, index: number): void {
  const fifths = at + 4 + scaleBytes;
  const numbers = fifths + 32;
  for (let part = 0; part < blockParts; part += 1) {
    const { scale, least } = scaleAndLeast(view, at, part);
    for (let number = 0; number < 32; number += 1) {
      const fifth = (view.getUint8(fifths + number) >> part) & 1;
      place[index + part * 32 + number] = scale * (fourBits(view, numbers, part, number) | (fifth << 4)) - least;
    }
  }
}

/** Two parts share 32 bytes. The first has the low halves. */
function fourBits(view: DataView, numbers: number, part: number, number: number): number {
  const pair = view.getUint8(numbers + (part >> 1) * 32 + number);
  return (part & 1) === 0 ? pair & 15 : pair >> 4;
}

/** Six bits each. For the last four parts the upper two bits are in the bytes of the first four. */
function scaleAndLeast(view: DataView, at: number, part: number): { readonly scale: number; readonly least: number } {
  const byte = (index: number): number => view.getUint8(at + 4 + index);
  const [scale, least] =
    part < 4
      ? [byte(part) & 63, byte(part + 4) & 63]
      : [(byte(part + 4) & 15) | ((byte(part - 4) >> 6) << 4), (byte(part + 4) >> 4) | ((byte(part) >> 6) << 4)];
  const half = (offset: number): number => halfToNumber(view.getUint16(at + offset, true));
  return { scale: half(0) * scale, least: half(2) * least };
}

/**
 * Six bits a number in two halves of 128: four bits in `low`, two in `high`. Each 16 numbers have a scale of eight
 * bits.
 */
function decodeQ6K(view: DataView, at: number, place: Float32Array, index: number): void {
  const [low, high, scales] = [at, at + 128, at + 192];
  const whole = halfToNumber(view.getUint16(at + 208, true));
  for (let part = 0; part < blockParts; part += 1) {
    const [half, quarter] = [part >> 2, part & 3];
    for (let number = 0; number < 32; number += 1) {
      const pair = view.getUint8(low + half * 64 + (quarter & 1) * 32 + number);
      const four = quarter < 2 ? pair & 15 : pair >> 4;
      const two = (view.getUint8(high + half * 32 + number) >> (2 * quarter)) & 3;
      const scale = whole * view.getInt8(scales + part * 2 + (number >> 4));
      place[index + part * 32 + number] = scale * ((four | (two << 4)) - 32);
    }
  }
}
