/** Adapters as generation and scoring use them. */
import { readAdapter } from '../adapters/adapterFolder.js';
import type { LoraAdapter } from '../adapters/loraAdapter.js';
import { scales } from '../adapters/loraModules.js';
import type { FloatTensor } from '../checkpoint/safetensors.js';
import type { DecoderConfig } from '../model/config.js';
import type { AdapterReference } from '../types.js';

/** Ranks are filled up to a multiple of this: the vector width, up to which a longer sum adds in the same order. */
export const RANK_STEP = 8;

/** An adapter ready for use: verified, and B multiplied by alpha / rank. */
export interface LoadedAdapter {
  readonly contentHash: string;
  /** By `loraName`: A `[rank, in]`, B `[out, rank]` of the projections that it adapts, each of its own rank, rounded up. */
  readonly matrices: ReadonlyMap<string, FloatTensor>;
}

/** @throws EngineError `adapter_invalid`, see `readAdapter`. */
export async function loadAdapter(reference: AdapterReference, config: DecoderConfig): Promise<LoadedAdapter> {
  return prepareAdapter(reference.contentHash, await readAdapter(reference, config));
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

/**
 * All in one stretch of memory: adapters come and go, and a hundred small pieces each cost more than their copying.
 * Generation and scoring take B multiplied by its module's scale, so that adapters of unlike scale share a batch.
 */
export function prepareAdapter(contentHash: string, adapter: LoraAdapter): LoadedAdapter {
  const scaleOf = scales(adapter);
  const rounded = [...adapter.matrices].map(([name, tensor]) => ({
    name,
    tensor,
    shape: roundedUp(name, tensor.shape),
  }));
  const stretch = new Float32Array(rounded.reduce((sum, { shape: [height, width] }) => sum + height * width, 0));
  const matrices = new Map<string, FloatTensor>();
  let start = 0;
  for (const { name, tensor, shape } of rounded) {
    const [height, width] = shape;
    const data = stretch.subarray(start, start + height * width);
    placeMatrix(data, width, tensor.data, tensor.shape[1] ?? 0);
    if (name.endsWith('.lora_B')) multiply(data, scaleOf(name.slice(0, -'.lora_B'.length)));
    matrices.set(name, { shape, data });
    start += height * width;
  }
  return { contentHash, matrices };
}

/** What the matrices lie in. */
export function memoryOf({ matrices }: LoadedAdapter): ArrayBuffer[] {
  return [
    ...new Set(
      [...matrices.values()].flatMap(({ data: { buffer } }) => (buffer instanceof ArrayBuffer ? [buffer] : [])),
    ),
  ];
}

/** The rank of a matrix as it is used; the last places hold zeros, which add nothing. */
function roundedUp(name: string, [height = 0, width = 0]: readonly number[]): readonly [number, number] {
  const up = (rank: number): number => Math.ceil(rank / RANK_STEP) * RANK_STEP;
  return name.endsWith('.lora_A') ? [up(height), width] : [height, up(width)];
}

/** A loop, as a call for each number takes many times as long, and a cold adapter's first answer waits for it. */
function multiply(data: Float32Array, factor: number): void {
  if (factor === 1) return;
  for (let index = 0; index < data.length; index += 1) data[index] = (data[index] ?? 0) * factor;
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
