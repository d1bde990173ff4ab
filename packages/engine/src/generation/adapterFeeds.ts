/** Adapters' matrices as inputs of a graph. */
import type { FloatTensor } from '../checkpoint/safetensors.js';
import { knownOr } from '../knownOr.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import { loraGroups, type LoraGroup } from '../model/loraGroups.js';
import { KeptTensors } from '../onnx/nativeTensors.js';
import { Tensor } from '../onnx/tensor.js';
import {
  joinedIn,
  joinedSize,
  leastRanks,
  outputs,
  partOf,
  placeJoined,
  sum,
  type JoinedMatrices,
} from './joinedMatrices.js';
import type { LoadedAdapter } from './loadedAdapter.js';

/**
 * One adapter for a whole batch: A `[rank, in]`, B `[out, rank]` of every projection, rank 1 and zeros where it adapts
 * nothing.
 */
export function sharedAdapterFeeds(adapter: LoadedAdapter, config: DecoderConfig): Feeds {
  const feeds: Record<string, Tensor> = {};
  for (const group of loraGroups(config)) {
    const joined = adapter.groups.get(group.name);
    for (const [part, { name, out }] of group.parts.entries()) {
      const adapted = joined !== undefined && joined.ranks[part] !== 0;
      const { a, b } = adapted ? partOf(group, joined, part) : { a: zeros(1, group.width), b: zeros(out, 1) };
      feeds[`${name}.lora_A`] = new Tensor(a.data, a.shape);
      feeds[`${name}.lora_B`] = new Tensor(b.data, b.shape);
    }
  }
  return feeds;
}

function zeros(height: number, width: number): FloatTensor {
  return { shape: [height, width], data: new Float32Array(height * width) };
}

/** Base's own matrices as they are, for a graph that has adapters in any case. */
const NO_ADAPTER: LoadedAdapter = { contentHash: '', groups: new Map() };

/** Who bounds the memory of the stacks. */
export interface StackBudget {
  readonly maxBytes: number;
  /** Told of the bytes that the stacks take, before they do. */
  resizeStacks(bytes: number): void;
}

/**
 * The adapters of a batch's rows, as the inference graph takes them: for every group of projections `[…, N, R, in]` and
 * `[…, N, R, outs]`, where R is the sum of its parts' greatest ranks among the rows. Smaller ranks are filled up with
 * zeros, which add nothing; so is the whole of a row without an adapter. N is 1 when all rows have the same adapter,
 * whose own memory is then used, or none.
 */
export class RowAdapters {
  private readonly own = new WeakMap<LoadedAdapter, KeptTensors>();
  private readonly stacks: MatrixStacks;
  private readonly groups: readonly LoraGroup[];
  /** As many zeros as the largest group takes if an adapter leaves it alone. */
  private readonly zeros: Float32Array;

  constructor(
    config: DecoderConfig,
    private readonly budget?: StackBudget,
  ) {
    this.groups = loraGroups(config);
    this.stacks = new MatrixStacks(this.groups, budget);
    this.zeros = new Float32Array(Math.max(...this.groups.map((group) => joinedSize(group, leastRanks(group)))));
  }

  /** Whether there is memory for the stacks of these rows; rows of the same adapter need none. */
  admits(rows: readonly (LoadedAdapter | null)[]): boolean {
    return areAlike(rows) || this.stacks.bytesFor(rows) <= (this.budget?.maxBytes ?? Infinity);
  }

  feeds(rows: readonly (LoadedAdapter | null)[]): KeptTensors {
    return areAlike(rows) ? this.ownFeeds(rows[0] ?? NO_ADAPTER) : this.stacks.feeds(rows);
  }

  private ownFeeds(adapter: LoadedAdapter): KeptTensors {
    return knownOr(this.own, adapter, () => {
      const tensors = this.groups.flatMap((group) => {
        const joined = adapter.groups.get(group.name) ?? joinedIn(this.zeros, 0, group, leastRanks(group));
        return tensorsOf(group, joined, 1);
      });
      return new KeptTensors(Object.fromEntries(tensors));
    });
  }
}

function areAlike(rows: readonly (LoadedAdapter | null)[]): boolean {
  return rows.every((row) => row === rows[0]);
}

/** The matrices of a group of several rows: A's one after the other, then B's. */
interface Stack {
  readonly group: LoraGroup;
  readonly ranks: readonly number[];
  readonly a: Float32Array;
  readonly b: Float32Array;
}

/**
 * Matrices of several rows one after the other; from one batch to the next only those of rows that have changed are
 * copied.
 */
class MatrixStacks {
  private capacity = 0;
  private stacks: readonly Stack[] = [];
  /** Adapters whose matrices are in the stacks, without keeping them in memory; a new stack holds zeros. */
  private rows: (WeakRef<LoadedAdapter> | null | undefined)[] = [];
  private readonly feedsByCount = new Map<number, KeptTensors>();

  constructor(
    private readonly groups: readonly LoraGroup[],
    private readonly budget?: StackBudget,
  ) {}

  bytesFor(rows: readonly (LoadedAdapter | null)[]): number {
    const numbers = sum(this.groups.map((group) => joinedSize(group, ranksFor(group, rows))));
    return capacityFor(rows) * numbers * Float32Array.BYTES_PER_ELEMENT;
  }

  feeds(rows: readonly (LoadedAdapter | null)[]): KeptTensors {
    if (!rows.every((adapter, row) => this.holds(row, adapter))) this.copy(rows);
    return knownOr(this.feedsByCount, rows.length, () => {
      const tensors = this.stacks.flatMap((stack) => tensorsOf(stack.group, stack, rows.length));
      return new KeptTensors(Object.fromEntries(tensors));
    });
  }

  private holds(row: number, adapter: LoadedAdapter | null): boolean {
    const held = this.rows[row];
    return adapter === null ? held === null : held?.deref() === adapter;
  }

  private copy(rows: readonly (LoadedAdapter | null)[]): void {
    const ranks = this.groups.map((group) => ranksFor(group, rows));
    const fits = ranks.every((wanted, index) => this.stacks[index]?.ranks.join() === wanted.join());
    if (!fits || rows.length > this.capacity) this.allocate(ranks, rows);
    rows.forEach((adapter, row) => {
      if (this.holds(row, adapter)) return;
      // If copying fails, nobody's matrices are there.
      this.rows[row] = undefined;
      for (const stack of this.stacks) {
        placeJoined(stack.group, rowOf(stack, row), adapter?.groups.get(stack.group.name));
      }
      this.rows[row] = adapter === null ? null : new WeakRef(adapter);
    });
  }

  private allocate(ranks: readonly (readonly number[])[], rows: readonly (LoadedAdapter | null)[]): void {
    // The old ones go first, so that both are never in memory together.
    this.stacks = [];
    this.rows = [];
    this.feedsByCount.clear();
    this.budget?.resizeStacks(this.bytesFor(rows));
    this.capacity = capacityFor(rows);
    this.stacks = this.groups.map((group, index) => {
      const own = ranks[index] ?? [];
      const room = (size: number): Float32Array => new Float32Array(this.capacity * sum(own) * size);
      return { group, ranks: own, a: room(group.width), b: room(outputs(group)) };
    });
    this.rows = Array.from({ length: this.capacity }, () => null);
  }
}

function capacityFor(rows: readonly unknown[]): number {
  return 2 ** Math.ceil(Math.log2(rows.length));
}

/** The greatest ranks of a group's parts among the rows. */
function ranksFor(group: LoraGroup, rows: readonly (LoadedAdapter | null)[]): readonly number[] {
  const joined = [...new Set(rows)].map((row) => row?.groups.get(group.name));
  const ranks = group.parts.map((_, part) => Math.max(0, ...joined.map((one) => one?.ranks[part] ?? 0)));
  return sum(ranks) === 0 ? leastRanks(group) : ranks;
}

function rowOf({ group, ranks, a, b }: Stack, row: number): JoinedMatrices {
  const part = (data: Float32Array, size: number): Float32Array => data.subarray(row * size, (row + 1) * size);
  return { ranks, a: part(a, sum(ranks) * group.width), b: part(b, sum(ranks) * outputs(group)) };
}

/**
 * With leading axes that keep ONNX Runtime from joining rows that share an adapter: each row is then computed alike.
 */
function tensorsOf(
  group: LoraGroup,
  { ranks, a, b }: JoinedMatrices,
  count: number,
): readonly (readonly [string, Tensor])[] {
  const [rank, outs] = [sum(ranks), outputs(group)];
  const tensor = (data: Float32Array, dims: readonly number[]): Tensor =>
    new Tensor(
      data.subarray(
        0,
        dims.reduce((product, size) => product * size),
      ),
      dims,
    );
  return [
    [`${group.name}.lora_A`, tensor(a, [1, count, rank, group.width])],
    [`${group.name}.lora_B`, tensor(b, [1, 1, count, rank, outs])],
  ];
}
