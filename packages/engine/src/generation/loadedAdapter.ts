/** Adapters as generation and scoring use them. */
import { scaledMatrices, type LoraAdapter } from '../adapters/loraAdapter.js';
import type { FloatTensor } from '../checkpoint/safetensors.js';

/** Ranks are filled up to a multiple of this: the vector width, up to which a longer sum adds in the same order. */
export const RANK_STEP = 8;

/** An adapter ready for use: verified, and B multiplied by alpha / rank. */
export interface LoadedAdapter {
  readonly contentHash: string;
  /** By `loraName`: A `[rank, in]`, B `[out, rank]` of the projections that it adapts, each of its own rank, rounded up. */
  readonly matrices: ReadonlyMap<string, FloatTensor>;
}

const counted = new WeakMap<LoadedAdapter, number>();

/** Counted once, since a long line of waiting requests asks for it at every step. */
export function adapterBytes(adapter: LoadedAdapter): number {
  const known = counted.get(adapter);
  if (known !== undefined) return known;
  const bytes = [...adapter.matrices.values()].reduce((sum, { data }) => sum + data.byteLength, 0);
  counted.set(adapter, bytes);
  return bytes;
}

export function prepareAdapter(contentHash: string, adapter: LoraAdapter): LoadedAdapter {
  const matrices = [...scaledMatrices(adapter)].map(([name, tensor]) => [name, roundedUp(name, tensor)] as const);
  return { contentHash, matrices: new Map(matrices) };
}

/** With zeros in the rank's last places, which add nothing. */
function roundedUp(name: string, tensor: FloatTensor): FloatTensor {
  const [height = 0, width = 0] = tensor.shape;
  const up = (rank: number): number => Math.ceil(rank / RANK_STEP) * RANK_STEP;
  const shape = name.endsWith('.lora_A') ? [up(height), width] : [height, up(width)];
  if (shape.join() === tensor.shape.join()) return tensor;
  const data = new Float32Array((shape[0] ?? 0) * (shape[1] ?? 0));
  placeMatrix(data, shape[1] ?? 0, tensor.data, width);
  return { shape, data };
}

/** Puts a matrix of lines of `width` numbers into the beginnings of longer, or equally long, lines. */
export function placeMatrix(place: Float32Array, placeWidth: number, data: Float32Array, width: number): void {
  if (width === placeWidth) {
    place.set(data);
    return;
  }
  for (let start = 0, target = 0; start < data.length; start += width, target += placeWidth) {
    place.set(data.subarray(start, start + width), target);
  }
}
