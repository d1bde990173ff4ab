/** An adapter's matrices as inputs of a graph. */
import { Tensor } from 'onnxruntime-node';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import { loraTensorSpecs, type LoraTensorSpec } from '../model/weights.js';
import type { LoadedAdapter } from './adapterCache.js';

/** Ranks are filled up to a multiple of this: the vector width, up to which a longer sum adds in the same order. */
const RANK_STEP = 16;

/** One adapter for a whole batch: A `[rank, in]`, B `[out, rank]`. */
export function sharedAdapterFeeds(adapter: LoadedAdapter): Feeds {
  const feeds: Record<string, Tensor> = {};
  for (const [name, { shape, data }] of adapter.matrices) feeds[name] = new Tensor('float32', data, shape);
  return feeds;
}

/**
 * An adapter, or none, for every row of a batch: A `[rows, R, in]`, B `[rows, out, R]` with R the greatest rank,
 * rounded up. Smaller ranks are filled up with zeros, which add nothing; so is the whole of a row without an adapter.
 */
export function rowAdapterFeeds(config: DecoderConfig, rows: readonly (LoadedAdapter | null)[]): Feeds {
  const rank = Math.ceil(Math.max(1, ...rows.map((adapter) => adapter?.rank ?? 0)) / RANK_STEP) * RANK_STEP;
  const feeds: Record<string, Tensor> = {};
  for (const spec of loraTensorSpecs(config, rank)) {
    feeds[spec.name] = new Tensor('float32', stackRows(spec, rank, rows), [rows.length, ...spec.shape]);
  }
  return feeds;
}

function stackRows(spec: LoraTensorSpec, rank: number, rows: readonly (LoadedAdapter | null)[]): Float32Array {
  const [height, width] = spec.shape;
  const [only] = rows;
  const onlyData = only?.rank === rank && rows.length === 1 ? only.matrices.get(spec.name)?.data : undefined;
  if (onlyData !== undefined) return onlyData;
  const stacked = new Float32Array(rows.length * height * width);
  rows.forEach((adapter, row) => {
    const data = adapter?.matrices.get(spec.name)?.data;
    if (adapter === null || data === undefined) return;
    const start = row * height * width;
    if (spec.matrix === 'A' || adapter.rank === rank) {
      stacked.set(data, start);
      return;
    }
    // B is `[out, rank]`: its lines are shorter than those of the stack.
    for (let line = 0; line < height; line += 1) {
      stacked.set(data.subarray(line * adapter.rank, (line + 1) * adapter.rank), start + line * width);
    }
  });
  return stacked;
}
