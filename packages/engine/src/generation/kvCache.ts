import { Tensor } from 'onnxruntime-node';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';

/** Tensors over the first slots, under the names that the inference graph gives its inputs and outputs. */
export interface CacheView {
  readonly past: Feeds;
  /** The same memory: fetching into it extends the sequences in place. */
  readonly present: Feeds;
}

/** `[slots, kvHeads, capacity, headDim]` each. */
interface LayerCache {
  readonly key: Float32Array;
  readonly value: Float32Array;
}

/** Capacity grows in steps of so many tokens. */
const CAPACITY_STEP = 128;

/**
 * Keys and values of the sequences being generated, one slot for each.
 *
 * The capacity follows the longest sequence instead of the context length, because ONNX Runtime's binding for Node
 * hands every output back as a copy, also one that was computed in place: a step costs a copy of all the slots at
 * full capacity. Resizing costs no more than one such step.
 */
export class KvCache {
  private layers: readonly LayerCache[] = [];
  private capacity = 0;
  private readonly views = new Map<number, CacheView>();

  constructor(
    private readonly config: DecoderConfig,
    /** Sequences that fit. */
    readonly slots: number,
  ) {}

  /** Bytes that one slot takes when its sequence fills the context. */
  static slotBytes(config: DecoderConfig): number {
    const floats = 2 * config.layers * config.kvHeads * config.contextLength * config.headDim;
    return floats * Float32Array.BYTES_PER_ELEMENT;
  }

  /** Makes room for `tokens` tokens in every slot and keeps what is in the first `used` slots; may also give room back. */
  reserve(tokens: number, used: number): void {
    const capacity = Math.min(Math.ceil(tokens / CAPACITY_STEP) * CAPACITY_STEP, this.config.contextLength);
    if (capacity <= this.capacity && capacity * 2 > this.capacity) return;
    const resized = new KvCache(this.config, this.slots);
    resized.allocate(capacity);
    const kept = Math.min(capacity, this.capacity);
    for (let slot = 0; slot < used; slot += 1) resized.copy(this, slot, slot, kept);
    this.layers = resized.layers;
    this.capacity = capacity;
    this.views.clear();
  }

  /** Copies the first `tokens` tokens of a sequence out of a slot of `source`, which may be this cache. */
  copy(source: KvCache, from: number, to: number, tokens: number): void {
    const { kvHeads, headDim } = this.config;
    for (const [index, layer] of this.layers.entries()) {
      for (const part of ['key', 'value'] as const) {
        const data = source.layers[index]?.[part] ?? new Float32Array();
        for (let head = 0; head < kvHeads; head += 1) {
          const start = (from * kvHeads + head) * source.capacity * headDim;
          const target = (to * kvHeads + head) * this.capacity * headDim;
          layer[part].set(data.subarray(start, start + tokens * headDim), target);
        }
      }
    }
  }

  /** The first `count` slots as a batch; valid until the next `reserve`. */
  view(count: number): CacheView {
    let view = this.views.get(count);
    if (view === undefined) {
      view = this.createView(count);
      this.views.set(count, view);
    }
    return view;
  }

  private allocate(capacity: number): void {
    const size = this.slots * this.config.kvHeads * capacity * this.config.headDim;
    // Memory that is never written costs nothing: the operating system provides its pages on first use.
    this.layers = Array.from({ length: this.config.layers }, () => ({
      key: new Float32Array(size),
      value: new Float32Array(size),
    }));
    this.capacity = capacity;
  }

  private createView(count: number): CacheView {
    const { kvHeads, headDim } = this.config;
    const shape = [count, kvHeads, this.capacity, headDim];
    const size = shape.reduce((a, b) => a * b, 1);
    const past: Record<string, Tensor> = {};
    const present: Record<string, Tensor> = {};
    for (const [index, layer] of this.layers.entries()) {
      for (const part of ['key', 'value'] as const) {
        const tensor = new Tensor('float32', layer[part].subarray(0, size), shape);
        past[`past.${part}.${index}`] = tensor;
        present[`present.${part}.${index}`] = tensor;
      }
    }
    return { past, present };
  }
}
