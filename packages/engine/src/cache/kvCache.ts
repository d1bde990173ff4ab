import { allFinite } from '../support/finite.js';
import { getOrCreate } from '../support/getOrCreate.js';
import { cacheNames } from '../model/cachedOperations.js';
import { cachedHeadDim, type DecoderConfig } from '../model/config.js';
import { RegisteredTensors } from '../onnx/nativeTensors.js';
import { Tensor } from '../onnx/tensor.js';

/** Capacities are multiples of this many tokens. */
const capacityStep = 64;

/**
 * The capacity of a slot that must hold `tokens` tokens. Steps grow with the length, because each costs a copy of the
 * cache. The excess costs memory and stays below a quarter.
 */
export function slotCapacity(tokens: number): number {
  const step = Math.max(capacityStep, 2 ** (Math.ceil(Math.log2(Math.max(1, tokens))) - 3));
  return Math.max(1, Math.ceil(tokens / step)) * step;
}

/** Bytes of the keys and values of one token. */
export function bytesPerToken(config: DecoderConfig): number {
  return 2 * config.layers * config.kvHeads * cachedHeadDim(config) * Float32Array.BYTES_PER_ELEMENT;
}

/**
 * The part of a cache that must survive a resize: the first tokens of each of the first slots. The rest is not copied.
 */
export interface CacheContents {
  readonly slots: number;
  readonly tokens: number;
}

export const noContents: CacheContents = { slots: 0, tokens: 0 };

/** Slots of a cache as a run finds and leaves them, in the same memory. */
export interface CacheView {
  readonly past: RegisteredTensors;
  readonly present: RegisteredTensors;
}

/**
 * Keys and values of the sequences being generated, one slot for each. Every layer has two buffers
 * `[slots, kvHeads, capacity, cachedHeadDim]`. A run reads them in place and writes what it adds.
 */
export class KvCache {
  /** Keys and values in turn, layer by layer. */
  private readonly buffers: Float32Array[];
  private capacity: number;
  private slots: number;
  private maxTokens = Infinity;
  /** Views of the first slots by their number, and of single slots. */
  private readonly views = new Map<number, CacheView>();
  private readonly slotViews = new Map<number, CacheView>();
  /** The number of elements of a head. */
  private readonly width: number;

  constructor(private readonly config: DecoderConfig) {
    this.width = cachedHeadDim(config);
    this.capacity = slotCapacity(1);
    this.slots = 1;
    this.buffers = Array.from({ length: 2 * config.layers }, () => this.allocate(1, this.capacity));
  }

  /** The number of tokens that fit, in all slots together. */
  get tokens(): number {
    return this.slots * this.capacity;
  }

  /**
   * Bounds the capacity of all slots together, in tokens. `reserve` passes the bound only if it cannot do with less. If
   * there is more already, shrinks to `tokens` tokens in each slot that is kept.
   */
  limit(maxTokens: number, tokens: number, kept: CacheContents): void {
    this.maxTokens = maxTokens;
    if (this.tokens > maxTokens) this.reserve(tokens, Math.max(1, kept.slots), kept);
  }

  /**
   * Makes sure that `slots` sequences of `tokens` tokens fit. Keeps `kept`, and may give memory back. Within the limit
   * it takes more than asked for, so that not every newcomer needs a resize.
   */
  reserve(tokens: number, slots: number, kept: CacheContents): void {
    const needed = slotCapacity(tokens);
    const fits = needed <= this.capacity && needed * 2 > this.capacity;
    const capacity = fits ? this.capacity : needed;
    const shapes = [
      ...(fits && slots <= this.slots ? [{ slots: this.slots, capacity }] : []),
      { slots: 2 ** Math.ceil(Math.log2(slots)), capacity },
      { slots, capacity: needed },
    ];
    const shape = shapes.find((one) => one.slots * one.capacity <= this.maxTokens) ?? { slots, capacity: needed };
    if (shape.slots !== this.slots || shape.capacity !== this.capacity) this.resize(shape.slots, shape.capacity, kept);
  }

  /** Copies the first `tokens` tokens of a sequence from a slot of `source`, which may be this cache. */
  copy(source: KvCache, from: number, to: number, tokens: number): void {
    for (const [index, buffer] of this.buffers.entries()) {
      const data = source.buffers[index] ?? new Float32Array();
      for (let head = 0; head < this.config.kvHeads; head += 1) {
        const start = source.offset(from, head, 0);
        buffer.set(data.subarray(start, start + tokens * this.width), this.offset(to, head, 0));
      }
    }
  }

  /** Writes what `read` returned into a slot, from token `start` on. */
  write(slot: number, start: number, state: Float32Array): void {
    const size = state.length / (this.buffers.length * this.config.kvHeads);
    let from = 0;
    for (const buffer of this.buffers) {
      for (let head = 0; head < this.config.kvHeads; head += 1) {
        buffer.set(state.subarray(from, from + size), this.offset(slot, head, start));
        from += size;
      }
    }
  }

  /**
   * Reads `count` tokens of a slot from `start` on: `[2 * layers, kvHeads, count, cachedHeadDim]`, layer by layer, keys
   * first.
   */
  read(slot: number, start: number, count: number): Float32Array {
    const { kvHeads } = this.config;
    const size = count * this.width;
    const state = new Float32Array(this.buffers.length * kvHeads * size);
    for (const [index, buffer] of this.buffers.entries()) {
      for (let head = 0; head < kvHeads; head += 1) {
        const from = this.offset(slot, head, start);
        state.set(buffer.subarray(from, from + size), (index * kvHeads + head) * size);
      }
    }
    return state;
  }

  /** Whether all numbers of `count` tokens of a slot are finite, from token `start` on. */
  isFinite(slot: number, start: number, count: number): boolean {
    const { kvHeads } = this.config;
    for (const buffer of this.buffers) {
      for (let head = 0; head < kvHeads; head += 1) {
        const from = this.offset(slot, head, start);
        if (!allFinite(buffer, from, from + count * this.width)) return false;
      }
    }
    return true;
  }

  /** The first `count` slots as a batch, under the graph's names. Valid until the next `reserve`. */
  view(count: number): CacheView {
    return getOrCreate(this.views, count, () => this.createView(count));
  }

  /** One slot as a cache of its own, of the same length. */
  viewOf(slot: number): CacheView {
    return getOrCreate(this.slotViews, slot, () => this.createView(1, slot));
  }

  /** If memory runs out, the contents of all slots are lost: some buffers have the new shape and others the old. */
  private resize(slots: number, capacity: number, kept: CacheContents): void {
    const { width } = this;
    const before = this.capacity;
    const end = Math.min(kept.tokens, capacity, before) * width;
    this.views.clear();
    this.slotViews.clear();
    this.capacity = 0;
    this.slots = 0;
    // Each buffer replaces its old one at once, so that the whole old cache and the whole new one never coexist.
    for (const [index, old] of this.buffers.entries()) {
      const resized = this.allocate(slots, capacity);
      for (let row = 0; row < kept.slots * this.config.kvHeads; row += 1) {
        const start = row * before * width;
        resized.set(old.subarray(start, start + end), row * capacity * width);
      }
      this.buffers[index] = resized;
    }
    this.capacity = capacity;
    this.slots = slots;
  }

  protected allocate(slots: number, capacity: number): Float32Array {
    // Memory that is never written costs nothing: the operating system provides pages on first use.
    return new Float32Array(slots * this.config.kvHeads * capacity * this.width);
  }

  private createView(count: number, first = 0): CacheView {
    const shape = [count, this.config.kvHeads, this.capacity, this.width];
    const [start, end] = [this.offset(first, 0, 0), this.offset(first + count, 0, 0)];
    const tensors = this.buffers.map((buffer) => new Tensor(buffer.subarray(start, end), shape));
    const named = (time: 'past' | 'present'): RegisteredTensors => {
      const names = Array.from({ length: this.config.layers }, (_, layer) => cacheNames(time, layer)).flat();
      return new RegisteredTensors(
        Object.fromEntries(tensors.map((tensor, index) => [names[index] ?? '', tensor] as const)),
      );
    };
    return { past: named('past'), present: named('present') };
  }

  /** Where the numbers of one head of a token begin in each buffer. */
  private offset(slot: number, head: number, token: number): number {
    return ((slot * this.config.kvHeads + head) * this.capacity + token) * this.width;
  }
}
