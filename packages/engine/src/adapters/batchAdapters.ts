/** Adapters as inputs of a graph: one for each row of a batch in generation, one for the whole batch in scoring. */
import type { FloatTensor } from '../checkpoint/safetensors.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import { loraGroups, type LoraGroup } from '../model/loraGroups.js';
import { RegisteredTensors } from '../onnx/nativeTensors.js';
import { Tensor } from '../onnx/tensor.js';
import { getOrCreate } from '../support/getOrCreate.js';
import { elementCount, sum } from '../support/numbers.js';
import type { AdapterSource } from './adapterCache.js';
import {
  joinedAt,
  joinedSize,
  minRanks,
  outputWidth,
  partOf,
  writeJoined,
  type JoinedMatrices,
} from './joinedMatrices.js';
import type { LoadedAdapter } from './loadedAdapter.js';

/**
 * One adapter for a whole batch: A `[rank, in]` and B `[out, rank]` of every projection. A projection that is not
 * adapted has rank 1 and zeros.
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

/** Stands for the base model in a graph that always has adapters. */
const noAdapter: LoadedAdapter = { contentHash: '', groups: new Map() };

/** Bounds the memory of the stacks and is told their size before it changes. */
export type StackBudget = Pick<AdapterSource, 'maxBytes' | 'resizeStacks'>;

/**
 * The adapters of a batch's rows, as the inference graph takes them: `[…, N, R, in]` and `[…, N, R, outs]` for every
 * group of projections. R is the sum of the greatest ranks that each part has among the rows. Smaller ranks, and rows
 * without an adapter, are padded with zeros, which add nothing. N is the number of rows. It is 1 when all rows have the
 * same adapter, whose own memory is used then, or none.
 */
export class BatchAdapters {
  private readonly shared = new WeakMap<LoadedAdapter, RegisteredTensors>();
  private readonly stacks: MatrixStacks;
  private readonly groups: readonly LoraGroup[];
  /** Zeros for the largest group, for rows whose adapter does not change it. */
  private readonly zeros: Float32Array;

  constructor(
    config: DecoderConfig,
    private readonly budget?: StackBudget,
  ) {
    this.groups = loraGroups(config);
    this.stacks = new MatrixStacks(this.groups, budget);
    this.zeros = new Float32Array(Math.max(...this.groups.map((group) => joinedSize(group, minRanks(group)))));
  }

  /** Whether there is memory for the stacks of these rows. Rows of the same adapter need none. */
  admits(rows: readonly (LoadedAdapter | null)[]): boolean {
    return areAlike(rows) || this.stacks.bytesFor(rows) <= (this.budget?.maxBytes ?? Infinity);
  }

  feeds(rows: readonly (LoadedAdapter | null)[]): RegisteredTensors {
    return areAlike(rows) ? this.sharedFeeds(rows[0] ?? noAdapter) : this.stacks.feeds(rows);
  }

  private sharedFeeds(adapter: LoadedAdapter): RegisteredTensors {
    return getOrCreate(this.shared, adapter, () => {
      const tensors = this.groups.flatMap((group) => {
        const joined = adapter.groups.get(group.name) ?? joinedAt(this.zeros, 0, group, minRanks(group));
        return tensorsOf(group, joined, 1);
      });
      return new RegisteredTensors(Object.fromEntries(tensors));
    });
  }
}

function areAlike(rows: readonly (LoadedAdapter | null)[]): boolean {
  return rows.every((row) => row === rows[0]);
}

/** The matrices of one group for several rows: all A's, then all B's. */
interface Stack {
  readonly group: LoraGroup;
  readonly ranks: readonly number[];
  readonly a: Float32Array;
  readonly b: Float32Array;
}

/** The matrices of several rows, one after the other. From batch to batch only rows that changed are copied. */
class MatrixStacks {
  private capacity = 0;
  private stacks: readonly Stack[] = [];
  /** Whose matrices are in the stacks, without keeping these adapters in memory. A new stack holds zeros. */
  private rows: (WeakRef<LoadedAdapter> | null | undefined)[] = [];
  private readonly feedsByCount = new Map<number, RegisteredTensors>();

  constructor(
    private readonly groups: readonly LoraGroup[],
    private readonly budget?: StackBudget,
  ) {}

  bytesFor(rows: readonly (LoadedAdapter | null)[]): number {
    const numbers = sum(this.groups.map((group) => joinedSize(group, ranksFor(group, rows))));
    return capacityFor(rows) * numbers * Float32Array.BYTES_PER_ELEMENT;
  }

  feeds(rows: readonly (LoadedAdapter | null)[]): RegisteredTensors {
    if (!rows.every((adapter, row) => this.holds(row, adapter))) this.copy(rows);
    return getOrCreate(this.feedsByCount, rows.length, () => {
      const tensors = this.stacks.flatMap((stack) => tensorsOf(stack.group, stack, rows.length));
      return new RegisteredTensors(Object.fromEntries(tensors));
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
      // If copying fails, the row holds nobody's matrices.
      this.rows[row] = undefined;
      for (const stack of this.stacks) {
        writeJoined(stack.group, rowOf(stack, row), adapter?.groups.get(stack.group.name));
      }
      this.rows[row] = adapter === null ? null : new WeakRef(adapter);
    });
  }

  private allocate(ranks: readonly (readonly number[])[], rows: readonly (LoadedAdapter | null)[]): void {
    // The old stacks go first, so that old and new are never in memory together.
    this.stacks = [];
    this.rows = [];
    this.feedsByCount.clear();
    this.budget?.resizeStacks(this.bytesFor(rows));
    this.capacity = capacityFor(rows);
    this.stacks = this.groups.map((group, index) => {
      const own = ranks[index] ?? [];
      const floats = (size: number): Float32Array => new Float32Array(this.capacity * sum(own) * size);
      return { group, ranks: own, a: floats(group.width), b: floats(outputWidth(group)) };
    });
    this.rows = Array.from({ length: this.capacity }, () => null);
  }
}

function capacityFor(rows: readonly unknown[]): number {
  return 2 ** Math.ceil(Math.log2(rows.length));
}

/** The greatest rank that each part of a group has among the rows. */
function ranksFor(group: LoraGroup, rows: readonly (LoadedAdapter | null)[]): readonly number[] {
  const joined = [...new Set(rows)].map((row) => row?.groups.get(group.name));
  const ranks = group.parts.map((_, part) => Math.max(0, ...joined.map((one) => one?.ranks[part] ?? 0)));
  return sum(ranks) === 0 ? minRanks(group) : ranks;
}

function rowOf({ group, ranks, a, b }: Stack, row: number): JoinedMatrices {
  const part = (data: Float32Array, size: number): Float32Array => data.subarray(row * size, (row + 1) * size);
  return { ranks, a: part(a, sum(ranks) * group.width), b: part(b, sum(ranks) * outputWidth(group)) };
}

/** The leading axes keep ONNX Runtime from joining rows that share an adapter, so that each row is computed alike. */
function tensorsOf(
  group: LoraGroup,
  { ranks, a, b }: JoinedMatrices,
  count: number,
): readonly (readonly [string, Tensor])[] {
  const [rank, outs] = [sum(ranks), outputWidth(group)];
  const tensor = (data: Float32Array, dims: readonly number[]): Tensor =>
    new Tensor(data.subarray(0, elementCount(dims)), dims);
  return [
    [`${group.name}.lora_A`, tensor(a, [1, count, rank, group.width])],
    [`${group.name}.lora_B`, tensor(b, [1, 1, count, rank, outs])],
  ];
}
