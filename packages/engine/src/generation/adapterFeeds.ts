/** Adapters' matrices as inputs of a graph. */
import { Tensor } from 'onnxruntime-node';
import type { FloatTensor } from '../checkpoint/safetensors.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import { loraTensorSpecs, type LoraTensorSpec } from '../model/weights.js';
import type { LoadedAdapter } from './adapterCache.js';

/** Ranks are filled up to a multiple of this: the vector width, up to which a longer sum adds in the same order. */
const RANK_STEP = 8;

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
 * `[…, N, out, R]`, where R is its greatest rank among the rows, rounded up. Smaller ranks are filled up with zeros, which
 * add nothing; so is the whole of a row without an adapter. N is 1 when all rows have the same adapter, whose own memory is
 * then used if it needs no filling up.
 */
export class RowAdapters {
  private readonly own = new WeakMap<LoadedAdapter, Feeds>();
  private readonly alone: MatrixStacks;
  private readonly mixed: MatrixStacks;
  private readonly specs: readonly LoraTensorSpec[];
  private readonly zeros: Float32Array;

  constructor(
    config: DecoderConfig,
    private readonly budget?: StackBudget,
  ) {
    this.specs = loraTensorSpecs(config, RANK_STEP);
    this.zeros = zerosFor(this.specs);
    this.alone = new MatrixStacks(this.specs, (bytes) => budget?.resizeStacks(bytes + this.mixed.bytes));
    this.mixed = new MatrixStacks(this.specs, (bytes) => budget?.resizeStacks(bytes + this.alone.bytes));
  }

  /**
   * Whether there is memory for the stacks of these rows, each of which is computed alone first; there always is for one.
   * What earlier rows have left is given back if the stacks would not fit beside it.
   */
  admits(rows: readonly (LoadedAdapter | null)[]): boolean {
    const { maxBytes = Infinity } = this.budget ?? {};
    const needed = this.bytesFor(rows);
    if (needed > maxBytes && rows.length > 1) return false;
    if (needed + this.alone.bytes + this.mixed.bytes > maxBytes) {
      this.alone.release();
      this.mixed.release();
    }
    return true;
  }

  feeds(rows: readonly (LoadedAdapter | null)[]): Feeds {
    const [first = null] = rows;
    if (first === null || rows.some((row) => row !== first)) return this.mixed.feeds(rows);
    return this.ownFeeds(first) ?? this.alone.feeds([first]);
  }

  private bytesFor(rows: readonly (LoadedAdapter | null)[]): number {
    const different = new Set(rows);
    const filledUp = [...different].filter((row) => row !== null && !isFull(row));
    return (
      Math.max(0, ...filledUp.map((row) => this.alone.bytesFor([row]))) +
      (different.size > 1 ? this.mixed.bytesFor(rows) : 0)
    );
  }

  private ownFeeds(adapter: LoadedAdapter): Feeds | undefined {
    let feeds = this.own.get(adapter);
    if (feeds === undefined && isFull(adapter)) {
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

/** Matrices of several rows one after the other; from one batch to the next only those of rows that have changed are copied. */
class MatrixStacks {
  private capacity = 0;
  private stacks: readonly (readonly [LoraTensorSpec, Float32Array])[] = [];
  /** Whose matrices are in the stacks, without keeping them in memory; a new stack holds zeros. */
  private rows: (WeakRef<LoadedAdapter> | null | undefined)[] = [];
  private readonly feedsByCount = new Map<number, Feeds>();

  constructor(
    private readonly specs: readonly LoraTensorSpec[],
    private readonly onResize: (bytes: number) => void,
  ) {}

  get bytes(): number {
    return this.stacks.reduce((sum, [, stack]) => sum + stack.byteLength, 0);
  }

  bytesFor(rows: readonly (LoadedAdapter | null)[]): number {
    const numbers = specsFor(this.specs, rows).reduce((sum, spec) => sum + sizeOf(spec), 0);
    return capacityFor(rows) * numbers * Float32Array.BYTES_PER_ELEMENT;
  }

  release(): void {
    this.onResize(0);
    this.capacity = 0;
    this.stacks = [];
    this.rows = [];
    this.feedsByCount.clear();
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
        fill(spec, stack.subarray(start, start + sizeOf(spec)), adapter?.matrices.get(spec.name)?.data);
      }
      this.rows[row] = adapter === null ? null : new WeakRef(adapter);
    });
  }

  private allocate(specs: readonly LoraTensorSpec[], rows: readonly (LoadedAdapter | null)[]): void {
    this.release();
    this.onResize(this.bytesFor(rows));
    this.capacity = capacityFor(rows);
    this.stacks = specs.map((spec) => [spec, new Float32Array(this.capacity * sizeOf(spec))]);
    this.rows = Array.from({ length: this.capacity }, () => null);
  }
}

function capacityFor(rows: readonly unknown[]): number {
  return 2 ** Math.ceil(Math.log2(rows.length));
}

/** The specs with the greatest ranks among the rows, rounded up. */
function specsFor(
  specs: readonly LoraTensorSpec[],
  rows: readonly (LoadedAdapter | null)[],
): readonly LoraTensorSpec[] {
  const adapters = [...new Set(rows)].map((row) => row?.matrices);
  return specs.map((spec) => {
    const ranks = adapters.map((matrices) => rankOf(spec, matrices?.get(spec.name)));
    return withRank(spec, Math.ceil(Math.max(1, ...ranks) / RANK_STEP) * RANK_STEP);
  });
}

/** Whether no matrix needs filling up. */
function isFull({ matrices }: LoadedAdapter): boolean {
  for (const [name, { shape }] of matrices) {
    if ((shape[name.endsWith('.lora_A') ? 0 : 1] ?? 0) % RANK_STEP !== 0) return false;
  }
  return true;
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
