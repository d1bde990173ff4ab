/** Adapters' matrices as inputs of a graph. */
import { Tensor } from 'onnxruntime-node';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import { loraTensorSpecs, type LoraTensorSpec } from '../model/weights.js';
import type { LoadedAdapter } from './adapterCache.js';

/** Ranks are filled up to a multiple of this: the vector width, up to which a longer sum adds in the same order. */
const RANK_STEP = 8;

/** One adapter for a whole batch: A `[rank, in]`, B `[out, rank]`. */
export function sharedAdapterFeeds(adapter: LoadedAdapter): Feeds {
  const feeds: Record<string, Tensor> = {};
  for (const [name, { shape, data }] of adapter.matrices) feeds[name] = new Tensor('float32', data, shape);
  return feeds;
}

/**
 * The adapters of a batch's rows, as the inference graph takes them: `[…, N, R, in]` and `[…, N, out, R]`, where R is the
 * greatest rank, rounded up. Smaller ranks are filled up with zeros, which add nothing; so is the whole of a row without
 * an adapter. N is 1 when all rows have the same adapter, whose own memory is then used.
 *
 * Otherwise the matrices are stacked, and from one batch to the next only those of rows that have changed are copied.
 */
export class RowAdapters {
  private readonly single = new WeakMap<LoadedAdapter, Feeds>();
  private rank = 0;
  private capacity = 0;
  private stacks: readonly (readonly [LoraTensorSpec, Float32Array])[] = [];
  /** Whose matrices are in the stacks; a new stack holds zeros. */
  private rows: (LoadedAdapter | null | undefined)[] = [];
  private readonly feedsByCount = new Map<number, Feeds>();

  constructor(private readonly config: DecoderConfig) {}

  feeds(rows: readonly (LoadedAdapter | null)[]): Feeds {
    const [first = null] = rows;
    return first !== null && rows.every((row) => row === first) ? this.singleFeeds(first) : this.stackedFeeds(rows);
  }

  private singleFeeds(adapter: LoadedAdapter): Feeds {
    let feeds = this.single.get(adapter);
    if (feeds === undefined) {
      const rank = paddedRank([adapter]);
      const tensors = loraTensorSpecs(this.config, rank).map((spec) => {
        const own = adapter.matrices.get(spec.name)?.data;
        const data = own !== undefined && adapter.rank === rank ? own : new Float32Array(sizeOf(spec));
        if (data !== own) fill(spec, data, own);
        return [spec.name, tensorOf(spec, data, 1)] as const;
      });
      feeds = Object.fromEntries(tensors);
      this.single.set(adapter, feeds);
    }
    return feeds;
  }

  private stackedFeeds(rows: readonly (LoadedAdapter | null)[]): Feeds {
    const rank = paddedRank(rows);
    if (rank !== this.rank || rows.length > this.capacity) this.allocate(rank, rows.length);
    rows.forEach((adapter, row) => {
      if (this.rows[row] === adapter) return;
      // If copying fails, nobody's matrices are there.
      this.rows[row] = undefined;
      for (const [spec, stack] of this.stacks) {
        const start = row * sizeOf(spec);
        fill(spec, stack.subarray(start, start + sizeOf(spec)), adapter?.matrices.get(spec.name)?.data);
      }
      this.rows[row] = adapter;
    });
    let feeds = this.feedsByCount.get(rows.length);
    if (feeds === undefined) {
      feeds = Object.fromEntries(this.stacks.map(([spec, data]) => [spec.name, tensorOf(spec, data, rows.length)]));
      this.feedsByCount.set(rows.length, feeds);
    }
    return feeds;
  }

  private allocate(rank: number, rows: number): void {
    this.rank = rank;
    this.capacity = 2 ** Math.ceil(Math.log2(rows));
    this.stacks = loraTensorSpecs(this.config, rank).map((spec) => [
      spec,
      new Float32Array(this.capacity * sizeOf(spec)),
    ]);
    this.rows = Array.from({ length: this.capacity }, () => null);
    this.feedsByCount.clear();
  }
}

function paddedRank(rows: readonly (LoadedAdapter | null)[]): number {
  return Math.ceil(Math.max(1, ...rows.map((adapter) => adapter?.rank ?? 0)) / RANK_STEP) * RANK_STEP;
}

function sizeOf({ shape: [height, width] }: LoraTensorSpec): number {
  return height * width;
}

/** With leading axes that keep ONNX Runtime from joining rows that share an adapter: each row is then computed alike. */
function tensorOf(spec: LoraTensorSpec, data: Float32Array, count: number): Tensor {
  const leading = spec.matrix === 'A' ? [1] : [1, 1];
  return new Tensor('float32', data.subarray(0, count * sizeOf(spec)), [...leading, count, ...spec.shape]);
}

/** Puts a matrix of the same or a smaller rank, or none, into its place, and zeros into the rest. */
function fill(
  { matrix, shape: [height, width] }: LoraTensorSpec,
  place: Float32Array,
  data: Float32Array = new Float32Array(),
): void {
  if (data.length < place.length) place.fill(0);
  if (matrix === 'A' || data.length === place.length) {
    place.set(data);
    return;
  }
  // B is `[out, rank]`: its lines may be shorter than those of its place.
  const rank = data.length / height;
  for (let line = 0; line < height; line += 1) {
    place.set(data.subarray(line * rank, (line + 1) * rank), line * width);
  }
}
