import { allFinite } from '../finite.js';
import { knownOr } from '../knownOr.js';
import { cacheNames } from '../model/cachedOperations.js';
import { cachedHeadDim, type DecoderConfig } from '../model/config.js';
import { KeptTensors } from '../onnx/nativeTensors.js';
import { Tensor } from '../onnx/tensor.js';

/** Capacity is a multiple of so many tokens. */
const CAPACITY_STEP = 64;

/**
 * Number of tokens for which a slot has room when it must hold `tokens`. Steps widen with the length, as each costs a
 * copy of the cache; what is too much costs memory, and stays below a quarter.
 */
export function slotCapacity(tokens: number): number {
  const step = Math.max(CAPACITY_STEP, 2 ** (Math.ceil(Math.log2(Math.max(1, tokens))) - 3));
  return Math.max(1, Math.ceil(tokens / step)) * step;
}

/** Bytes of keys and values of one token. */
export function bytesPerToken(config: DecoderConfig): number {
  return 2 * config.layers * config.kvHeads * cachedHeadDim(config) * Float32Array.BYTES_PER_ELEMENT;
}

/**
 * What is in a cache and stays: the first tokens in each of the first slots. Room that was never used takes no memory,
 * nor is it copied.
 */
export interface Kept {
  readonly slots: number;
  readonly tokens: number;
}

export const NOTHING_KEPT: Kept = { slots: 0, tokens: 0 };

/** Slots of a cache as a run finds them and as it leaves them, in the same memory. */
export interface CacheView {
  readonly past: KeptTensors;
  readonly present: KeptTensors;
}

/**
 * Keys and values of the sequences being generated, one slot for each: for every layer two buffers
 * `[slots, kvHeads, capacity, cachedHeadDim]`. A run reads them in place, and writes what it adds.
 */
export class KvCache {
  /** Keys and values by turns, layer by layer. */
  private readonly buffers: Float32Array[];
  private capacity: number;
  private slots: number;
  private maxTokens = Infinity;
  /** Views by the number of slots from the first on, and of single slots. */
  private readonly views = new Map<number, CacheView>();
  private readonly slotViews = new Map<number, CacheView>();
  /** Numbers of a head. */
  private readonly width: number;

  constructor(private readonly config: DecoderConfig) {
    this.width = cachedHeadDim(config);
    this.capacity = slotCapacity(1);
    this.slots = 1;
    this.buffers = Array.from({ length: 2 * config.layers }, () => this.allocate(1, this.capacity));
  }

  /** Tokens that there is room for, in all slots together. */
  get tokens(): number {
    return this.slots * this.capacity;
  }

  /**
   * From now on there is room for at most `maxTokens` tokens in all slots together, as long as what `reserve` is asked
   * for fits; what goes beyond is given back, but for `tokens` tokens in each of the slots that are kept.
   */
  limit(maxTokens: number, tokens: number, kept: Kept): void {
    this.maxTokens = maxTokens;
    if (this.tokens > maxTokens) this.reserve(tokens, Math.max(1, kept.slots), kept);
  }

  /**
   * Room for `slots` sequences of `tokens` tokens; keeps what it is told to, and may give room back.
   * Where the limit allows, there is more room than asked for, so that it need not be resized for each newcomer.
   */
  reserve(tokens: number, slots: number, kept: Kept): void {
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

  /** Copies the first `tokens` tokens of a sequence out of a slot of `source`, which may be this cache. */
  copy(source: KvCache, from: number, to: number, tokens: number): void {
    for (const [index, buffer] of this.buffers.entries()) {
      const data = source.buffers[index] ?? new Float32Array();
      for (let head = 0; head < this.config.kvHeads; head += 1) {
        const start = source.offset(from, head, 0);
        buffer.set(data.subarray(start, start + tokens * this.width), this.offset(to, head, 0));
      }
    }
  }

  /** Puts what `read` gave into a slot, from place `start` on. */
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
   * `count` tokens of a slot from place `start` on: `[2 * layers, kvHeads, count, cachedHeadDim]`, layer by layer, keys
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

  /** Whether `count` tokens of a slot from place `start` on have numbers that are finite. */
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

  /** The first `count` slots as a batch, under the graph's names; valid until the next `reserve`. */
  view(count: number): CacheView {
    return knownOr(this.views, count, () => this.createView(count));
  }

  /** The cache of one slot alone, as long. */
  viewOf(slot: number): CacheView {
    return knownOr(this.slotViews, slot, () => this.createView(1, slot));
  }

  /**
   * When memory cannot be had, what was in the slots is lost, as some buffers have the new shape and others the old.
   */
  private resize(slots: number, capacity: number, kept: Kept): void {
    const { width } = this;
    const before = this.capacity;
    const end = Math.min(kept.tokens, capacity, before) * width;
    this.views.clear();
    this.slotViews.clear();
    this.capacity = 0;
    this.slots = 0;
    // Each takes the place of its old one at once, so that the old and the new are never in memory together as a whole.
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
    // Memory that is never written costs nothing: the operating system provides its pages on first use.
    return new Float32Array(slots * this.config.kvHeads * capacity * this.width);
  }

  private createView(count: number, first = 0): CacheView {
    const shape = [count, this.config.kvHeads, this.capacity, this.width];
    const [start, end] = [this.offset(first, 0, 0), this.offset(first + count, 0, 0)];
    const tensors = this.buffers.map((buffer) => new Tensor(buffer.subarray(start, end), shape));
    const named = (time: 'past' | 'present'): KeptTensors => {
      const names = Array.from({ length: this.config.layers }, (_, layer) => cacheNames(time, layer)).flat();
      return new KeptTensors(Object.fromEntries(tensors.map((tensor, index) => [names[index] ?? '', tensor] as const)));
    };
    return { past: named('past'), present: named('present') };
  }

  /** Where the numbers of a token's head begin in each buffer. */
  private offset(slot: number, head: number, token: number): number {
    return ((slot * this.config.kvHeads + head) * this.capacity + token) * this.width;
  }
}
