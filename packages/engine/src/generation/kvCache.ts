import { Tensor } from 'onnxruntime-node';
import { allFinite } from '../finite.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';

/**
 * Capacity is a multiple of so many tokens, which is a multiple of what the vector kernels take at once: a sequence's
 * sums are added up in the same order whatever the capacity.
 */
const CAPACITY_STEP = 64;

/**
 * Number of tokens for which a slot has room when it must hold `tokens`. Steps widen with the length, as each costs a
 * copy of the cache; what is too much costs computing, and stays below a quarter.
 */
export function slotCapacity(tokens: number): number {
  const step = Math.max(CAPACITY_STEP, 2 ** (Math.ceil(Math.log2(Math.max(1, tokens))) - 3));
  return Math.max(1, Math.ceil(tokens / step)) * step;
}

/** Bytes of keys and values of one token. */
export function bytesPerToken({ layers, kvHeads, headDim }: DecoderConfig): number {
  return 2 * layers * kvHeads * headDim * Float32Array.BYTES_PER_ELEMENT;
}

/**
 * Keys and values of the sequences being generated, one slot for each: for every layer two buffers
 * `[slots, kvHeads, capacity, headDim]`. A run reads them in place and gives the new tokens' part, which `write` adds.
 *
 * The capacity follows the longest sequence instead of the context length, because attention is computed over all of
 * it. What lies beyond the end of a sequence is never seen, but must be finite: only finite numbers are written.
 */
export class KvCache {
  /** Keys and values by turns, layer by layer. */
  private readonly buffers: Float32Array[];
  private capacity: number;
  private slots: number;
  private maxTokens = Infinity;
  private readonly feeds = new Map<number, Feeds>();

  constructor(private readonly config: DecoderConfig) {
    this.capacity = slotCapacity(1);
    this.slots = 1;
    this.buffers = Array.from({ length: 2 * config.layers }, () => this.allocate(1, this.capacity));
  }

  /** Tokens that there is room for in each slot. */
  get tokensPerSlot(): number {
    return this.capacity;
  }

  /** Tokens that there is room for, in all slots together. */
  get tokens(): number {
    return this.slots * this.capacity;
  }

  /**
   * From now on there is room for at most `maxTokens` tokens in all slots together, as long as what `reserve` is asked
   * for fits; what goes beyond is given back, but for the first `used` slots up to `tokens` tokens.
   */
  limit(maxTokens: number, tokens: number, used: number): void {
    this.maxTokens = maxTokens;
    if (this.tokens > maxTokens) this.reserve(tokens, Math.max(1, used), used);
  }

  /**
   * Room for `slots` sequences of `tokens` tokens; keeps what is in the first `used` slots, and may give room back.
   * Where the limit allows, there is more room than asked for, so that it need not be resized for each newcomer.
   */
  reserve(tokens: number, slots: number, used = slots): void {
    const needed = slotCapacity(tokens);
    const fits = needed <= this.capacity && needed * 2 > this.capacity;
    const capacity = fits ? this.capacity : needed;
    const shapes = [
      ...(fits && slots <= this.slots ? [{ slots: this.slots, capacity }] : []),
      { slots: 2 ** Math.ceil(Math.log2(slots)), capacity },
      { slots, capacity: needed },
    ];
    const shape = shapes.find((one) => one.slots * one.capacity <= this.maxTokens) ?? { slots, capacity: needed };
    if (shape.slots !== this.slots || shape.capacity !== this.capacity) this.resize(shape.slots, shape.capacity, used);
  }

  /** Copies the first `tokens` tokens of a sequence out of a slot of `source`, which may be this cache. */
  copy(source: KvCache, from: number, to: number, tokens: number): void {
    const { kvHeads, headDim } = this.config;
    for (const [index, buffer] of this.buffers.entries()) {
      const data = source.buffers[index] ?? new Float32Array();
      for (let head = 0; head < kvHeads; head += 1) {
        const start = (from * kvHeads + head) * source.capacity * headDim;
        const target = (to * kvHeads + head) * this.capacity * headDim;
        buffer.set(data.subarray(start, start + tokens * headDim), target);
      }
    }
  }

  /**
   * Puts new tokens into a slot, from place `start` on. `state` is `[2 * layers, rows, kvHeads, S, headDim]`, of which
   * `row` is taken. Returns false, with nothing written, when a number is not finite.
   */
  write(slot: number, start: number, state: Float32Array, row: number, rows: number): boolean {
    const { kvHeads, headDim } = this.config;
    const head = state.length / (this.buffers.length * rows * kvHeads);
    const offset = (index: number): number => (index * rows + row) * kvHeads * head;
    for (let index = 0; index < this.buffers.length; index += 1) {
      if (!allFinite(state, offset(index), offset(index) + kvHeads * head)) return false;
    }
    for (const [index, buffer] of this.buffers.entries()) {
      for (let part = 0; part < kvHeads; part += 1) {
        const from = offset(index) + part * head;
        buffer.set(state.subarray(from, from + head), ((slot * kvHeads + part) * this.capacity + start) * headDim);
      }
    }
    return true;
  }

  /** The first `count` slots as a batch, under the graph's names; valid until the next `reserve`. */
  view(count: number): Feeds {
    let view = this.feeds.get(count);
    if (view === undefined) {
      view = this.createView(count);
      this.feeds.set(count, view);
    }
    return view;
  }

  /** When memory cannot be had, what was in the slots is lost, as some buffers have the new shape and others the old. */
  private resize(slots: number, capacity: number, used: number): void {
    const width = this.config.headDim;
    const before = this.capacity;
    const kept = Math.min(capacity, before) * width;
    this.feeds.clear();
    this.capacity = 0;
    this.slots = 0;
    // Each takes the place of its old one at once, so that the old and the new are never in memory together as a whole.
    for (const [index, old] of this.buffers.entries()) {
      const resized = this.allocate(slots, capacity);
      for (let row = 0; row < used * this.config.kvHeads; row += 1) {
        const start = row * before * width;
        resized.set(old.subarray(start, start + kept), row * capacity * width);
      }
      this.buffers[index] = resized;
    }
    this.capacity = capacity;
    this.slots = slots;
  }

  protected allocate(slots: number, capacity: number): Float32Array {
    // Memory that is never written costs nothing: the operating system provides its pages on first use.
    return new Float32Array(slots * this.config.kvHeads * capacity * this.config.headDim);
  }

  /** The cache of one slot alone. */
  viewOf(slot: number): Feeds {
    return this.createView(1, slot);
  }

  private createView(count: number, first = 0): Feeds {
    const { kvHeads, headDim } = this.config;
    const shape = [count, kvHeads, this.capacity, headDim];
    const size = shape.reduce((a, b) => a * b, 1);
    const start = (first * size) / count;
    const feeds: Record<string, Tensor> = {};
    for (const [index, buffer] of this.buffers.entries()) {
      const name = `past.${index % 2 === 0 ? 'key' : 'value'}.${index >> 1}`;
      feeds[name] = new Tensor('float32', buffer.subarray(start, start + size), shape);
    }
    return feeds;
  }
}
