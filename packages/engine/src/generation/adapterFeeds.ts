/** Adapters' matrices as inputs of a graph. */
import { Tensor } from 'onnxruntime-node';
import type { FloatTensor } from '../checkpoint/safetensors.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import { loraTensorSpecs, type LoraTensorSpec } from '../model/weights.js';
import { placeMatrix, RANK_STEP, type LoadedAdapter } from './loadedAdapter.js';

/** One adapter for a whole batch: A `[rank, in]`, B `[out, rank]` of every projection, zeros where it adapts nothing. */
export function sharedAdapterFeeds(adapter: LoadedAdapter, config: DecoderConfig): Feeds {
  const specs = loraTensorSpecs(config, 1);
  const zeros = zerosFor(specs);
  const tensors = specs.map((spec) => {
    const { shape, data } = adapter.matrices.get(spec.name) ?? { ...spec, data: zeros.subarray(0, sizeOf(spec)) };
    return [spec.name, new Tensor('float32', data, shape)] as const;
  });
  return Object.fromEntries(tensors);
}

/** Who bounds the memory of the stacks. */
export interface StackBudget {
  readonly maxBytes: number;
  /** Told of the bytes that the stacks take, before they do. */
  resizeStacks(bytes: number): void;
}

/**
 * The adapters of a batch's rows, as the inference graph takes them: for every projection `[…, N, R, in]` and
 * `[…, N, out, R]`, where R is its greatest rank among the rows. Smaller ranks are filled up with zeros, which add nothing;
 * so is the whole of a row without an adapter. N is 1 when all rows have the same adapter, whose own memory is then used.
 */
export class RowAdapters {
  private readonly own = new WeakMap<LoadedAdapter, Feeds>();
  private readonly stacks: MatrixStacks;
  private readonly specs: readonly LoraTensorSpec[];
  private readonly zeros: Float32Array;

  constructor(
    config: DecoderConfig,
    private readonly budget?: StackBudget,
  ) {
    this.specs = loraTensorSpecs(config, RANK_STEP);
    this.zeros = zerosFor(this.specs);
    this.stacks = new MatrixStacks(this.specs, budget);
  }

  /** Whether there is memory for the stacks of these rows; rows of the same adapter need none. */
  admits(rows: readonly (LoadedAdapter | null)[]): boolean {
    return areAlike(rows) || this.stacks.bytesFor(rows) <= (this.budget?.maxBytes ?? Infinity);
  }

  feeds(rows: readonly (LoadedAdapter | null)[]): Feeds {
    const [first = null] = rows;
    return first !== null && areAlike(rows) ? this.ownFeeds(first) : this.stacks.feeds(rows);
  }

  private ownFeeds(adapter: LoadedAdapter): Feeds {
    let feeds = this.own.get(adapter);
    if (feeds === undefined) {
      const tensors = this.specs.map((spec) => {
        const matrix = adapter.matrices.get(spec.name);
        const own = matrix === undefined ? spec : withRank(spec, rankOf(spec, matrix));
        return [spec.name, tensorOf(own, matrix?.data ?? this.zeros, 1)] as const;
      });
      feeds = Object.fromEntries(tensors);
      this.own.set(adapter, feeds);
    }
    return feeds;
  }
}

function areAlike(rows: readonly (LoadedAdapter | null)[]): boolean {
  return rows.every((row) => row === rows[0]);
}

/** Matrices of several rows one after the other; from one batch to the next only those of rows that have changed are copied. */
class MatrixStacks {
  private capacity = 0;
  private stacks: readonly (readonly [LoraTensorSpec, Float32Array])[] = [];
  /** Whose matrices are in the stacks, without keeping them in memory; a new stack holds zeros. */
  private rows: (WeakRef<LoadedAdapter> | null | undefined)[] = [];
  private readonly feedsByCount = new Map<number, Feeds>();

  constructor(
    private readonly specs: readonly LoraTensorSpec[],
    private readonly budget?: StackBudget,
  ) {}

  bytesFor(rows: readonly (LoadedAdapter | null)[]): number {
    const numbers = specsFor(this.specs, rows).reduce((sum, spec) => sum + sizeOf(spec), 0);
    return capacityFor(rows) * numbers * Float32Array.BYTES_PER_ELEMENT;
  }

  feeds(rows: readonly (LoadedAdapter | null)[]): Feeds {
    if (!rows.every((adapter, row) => this.holds(row, adapter))) this.copy(rows);
    let feeds = this.feedsByCount.get(rows.length);
    if (feeds === undefined) {
      feeds = Object.fromEntries(this.stacks.map(([spec, data]) => [spec.name, tensorOf(spec, data, rows.length)]));
      this.feedsByCount.set(rows.length, feeds);
    }
    return feeds;
  }

  private holds(row: number, adapter: LoadedAdapter | null): boolean {
    const held = this.rows[row];
    return adapter === null ? held === null : held?.deref() === adapter;
  }

  private copy(rows: readonly (LoadedAdapter | null)[]): void {
    const specs = specsFor(this.specs, rows);
    const fits = specs.every(({ shape }, index) => this.stacks[index]?.[0].shape.join() === shape.join());
    if (!fits || rows.length > this.capacity) this.allocate(specs, rows);
    rows.forEach((adapter, row) => {
      if (this.holds(row, adapter)) return;
      // If copying fails, nobody's matrices are there.
      this.rows[row] = undefined;
      for (const [spec, stack] of this.stacks) {
        const start = row * sizeOf(spec);
        fill(spec, stack.subarray(start, start + sizeOf(spec)), adapter?.matrices.get(spec.name));
      }
      this.rows[row] = adapter === null ? null : new WeakRef(adapter);
    });
  }

  private allocate(specs: readonly LoraTensorSpec[], rows: readonly (LoadedAdapter | null)[]): void {
    // The old ones go first, so that both are never in memory together.
    this.stacks = [];
    this.rows = [];
    this.feedsByCount.clear();
    this.budget?.resizeStacks(this.bytesFor(rows));
    this.capacity = capacityFor(rows);
    this.stacks = specs.map((spec) => [spec, new Float32Array(this.capacity * sizeOf(spec))]);
    this.rows = Array.from({ length: this.capacity }, () => null);
  }
}

function capacityFor(rows: readonly unknown[]): number {
  return 2 ** Math.ceil(Math.log2(rows.length));
}

/** The specs with the greatest ranks among the rows, at least one step. */
function specsFor(
  specs: readonly LoraTensorSpec[],
  rows: readonly (LoadedAdapter | null)[],
): readonly LoraTensorSpec[] {
  const adapters = [...new Set(rows)].map((row) => row?.matrices);
  return specs.map((spec) => {
    const ranks = adapters.map((matrices) => rankOf(spec, matrices?.get(spec.name)));
    return withRank(spec, Math.max(RANK_STEP, ...ranks));
  });
}

function rankOf({ matrix }: LoraTensorSpec, tensor: FloatTensor | undefined): number {
  return tensor?.shape[matrix === 'A' ? 0 : 1] ?? 0;
}

function withRank(spec: LoraTensorSpec, rank: number): LoraTensorSpec {
  const [height, width] = spec.shape;
  return { ...spec, shape: spec.matrix === 'A' ? [rank, width] : [height, rank] };
}

/** As many zeros as the largest of the matrices has numbers. */
function zerosFor(specs: readonly LoraTensorSpec[]): Float32Array {
  return new Float32Array(Math.max(...specs.map(sizeOf)));
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
function fill({ shape: [, width] }: LoraTensorSpec, place: Float32Array, tensor: FloatTensor | undefined): void {
  if (tensor === undefined || tensor.data.length < place.length) place.fill(0);
  if (tensor !== undefined) placeMatrix(place, width, tensor.data, tensor.shape[1] ?? 0);
}
