/**
 * How GGUF stores the numbers of a tensor: plainly, or in blocks of small integers with their own scales. Layouts:
 * https://github.com/ggml-org/llama.cpp/blob/master/ggml/src/ggml-common.h. The arithmetic rounds to float32 where
 * `gguf.quants` of llama.cpp's Python package does, so that both give the same bits.
 */
import { halfToNumber } from '../checkpoint/halfPrecision.js';
import type { BlockFormat } from './blockFormat.js';
import { kQuants } from './kQuants.js';

const quantisedFormats = { length: 32, exactType: 'F32' } as const;

/** The readable formats by ggml's number. */
export const ggufBlockFormats: ReadonlyMap<number, BlockFormat> = new Map<number, BlockFormat>([
  [
    0,
    {
      ...{ name: 'F32', length: 1, bytes: 4, exactType: 'F32' },
      decode: (view, at, place, index) => {
        place[index] = view.getFloat32(at, true);
      },
    },
  ],
  [
    1,
    {
      ...{ name: 'F16', length: 1, bytes: 2, exactType: 'F16' },
      decode: (view, at, place, index) => {
        place[index] = halfAt(view, at);
      },
    },
  ],
  [2, { ...quantisedFormats, name: 'Q4_0', bytes: 18, decode: decodeQ4x0 }],
  [3, { ...quantisedFormats, name: 'Q4_1', bytes: 20, decode: decodeQ4x1 }],
  [6, { ...quantisedFormats, name: 'Q5_0', bytes: 22, decode: decodeQ5x0 }],
  [7, { ...quantisedFormats, name: 'Q5_1', bytes: 24, decode: decodeQ5x1 }],
  [8, { ...quantisedFormats, name: 'Q8_0', bytes: 34, decode: decodeQ8x0 }],
  ...kQuants,
  [
    30,
    {
      ...{ name: 'BF16', length: 1, bytes: 2, exactType: 'BF16' },
      decode: (view, at, place, index) => {
        new Uint32Array(place.buffer, place.byteOffset, place.length)[index] = view.getUint16(at, true) << 16;
      },
    },
  ],
]);

/** Decodes whole blocks into `place`, which has exactly their length. */
export function decodeBlocks(format: BlockFormat, bytes: Uint8Array, place: Float32Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blocks = bytes.byteLength / format.bytes;
  for (let block = 0; block < blocks; block += 1) {
    format.decode(view, block * format.bytes, place, block * format.length);
  }
}

function halfAt(view: DataView, at: number): number {
  return halfToNumber(view.getUint16(at, true));
}

/** Numbers from -8 to 7 times a scale. Of 16 bytes the low halves come first, then the high halves. */
function decodeQ4x0(view: DataView, at: number, place: Float32Array, index: number): void {
  const scale = halfAt(view, at);
  for (let byte = 0; byte < 16; byte += 1) {
    const pair = view.getUint8(at + 2 + byte);
    place[index + byte] = scale * ((pair & 15) - 8);
    place[index + 16 + byte] = scale * ((pair >> 4) - 8);
  }
}

/** Numbers from 0 to 15 times a scale, plus a minimum. */
function decodeQ4x1(view: DataView, at: number, place: Float32Array, index: number): void {
  const [scale, least] = [halfAt(view, at), halfAt(view, at + 2)];
  for (let byte = 0; byte < 16; byte += 1) {
    const pair = view.getUint8(at + 4 + byte);
    place[index + byte] = scale * (pair & 15) + least;
    place[index + 16 + byte] = scale * (pair >> 4) + least;
  }
}

/** Like Q4_0, but four more bytes hold a fifth bit of each number. */
function decodeQ5x0(view: DataView, at: number, place: Float32Array, index: number): void {
  const [scale, fifths] = [halfAt(view, at), view.getUint32(at + 2, true)];
  for (let byte = 0; byte < 16; byte += 1) {
    const pair = view.getUint8(at + 6 + byte);
    place[index + byte] = scale * (fiveBits(pair & 15, fifths, byte) - 16);
    place[index + 16 + byte] = scale * (fiveBits(pair >> 4, fifths, byte + 16) - 16);
  }
}

function decodeQ5x1(view: DataView, at: number, place: Float32Array, index: number): void {
  const [scale, least, fifths] = [halfAt(view, at), halfAt(view, at + 2), view.getUint32(at + 4, true)];
  for (let byte = 0; byte < 16; byte += 1) {
    const pair = view.getUint8(at + 8 + byte);
    place[index + byte] = scale * fiveBits(pair & 15, fifths, byte) + least;
    place[index + 16 + byte] = scale * fiveBits(pair >> 4, fifths, byte + 16) + least;
  }
}

function fiveBits(four: number, fifths: number, bit: number): number {
  return four | (((fifths >>> bit) & 1) << 4);
}

function decodeQ8x0(view: DataView, at: number, place: Float32Array, index: number): void {
  const scale = halfAt(view, at);
  for (let byte = 0; byte < 32; byte += 1) place[index + byte] = scale * view.getInt8(at + 2 + byte);
}
