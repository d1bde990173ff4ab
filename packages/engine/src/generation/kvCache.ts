import { Tensor } from 'onnxruntime-node';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';

/** Tensors over some neighbouring slots, under the names that the inference graph gives its inputs and outputs. */
export interface CacheView {
  readonly past: Feeds;
  /** The same memory: fetching into it extends the sequences in place. */
  readonly present: Feeds;
}

interface LayerCache {
  /** `[slots, kvHeads, capacity, headDim]` */
  readonly key: Float32Array;
  readonly value: Float32Array;
}

/**
 * Keys and values of the sequences being generated, one slot for each. Memory that was never written costs nothing:
 * the operating system provides its pages on first use.
 */
export class KvCache {
  private readonly layers: readonly LayerCache[];
  private readonly slotSize: number;
  private readonly views = new Map<string, CacheView>();

  constructor(
    private readonly config: DecoderConfig,
    /** Sequences that fit. */
    readonly slots: number,
  ) {
    this.slotSize = config.kvHeads * config.contextLength * config.headDim;
    this.layers = Array.from({ length: config.layers }, () => ({
      key: new Float32Array(slots * this.slotSize),
      value: new Float32Array(slots * this.slotSize),
    }));
  }

  /** Bytes that one slot takes when its sequence fills the context. */
  static slotBytes(config: DecoderConfig): number {
    const floats = 2 * config.layers * config.kvHeads * config.contextLength * config.headDim;
    return floats * Float32Array.BYTES_PER_ELEMENT;
  }

  /** The slots `first` to `first + count - 1` as a batch. */
  view(first: number, count: number): CacheView {
    const id = `${first}+${count}`;
    let view = this.views.get(id);
    if (view === undefined) {
      view = this.createView(first, count);
      this.views.set(id, view);
    }
    return view;
  }

  /** Copies the first `tokens` tokens of one slot's sequence into another slot. */
  copy(from: number, to: number, tokens: number): void {
    const { kvHeads, contextLength, headDim } = this.config;
    for (const layer of this.layers) {
      for (const data of [layer.key, layer.value]) {
        for (let head = 0; head < kvHeads; head += 1) {
          const offset = head * contextLength * headDim;
          const source = from * this.slotSize + offset;
          data.copyWithin(to * this.slotSize + offset, source, source + tokens * headDim);
        }
      }
    }
  }

  private createView(first: number, count: number): CacheView {
    const { kvHeads, contextLength, headDim } = this.config;
    const past: Record<string, Tensor> = {};
    const present: Record<string, Tensor> = {};
    this.layers.forEach((layer, index) => {
      for (const part of ['key', 'value'] as const) {
        const data = layer[part].subarray(first * this.slotSize, (first + count) * this.slotSize);
        const tensor = new Tensor('float32', data, [count, kvHeads, contextLength, headDim]);
        past[`past.${part}.${index}`] = tensor;
        present[`present.${part}.${index}`] = tensor;
      }
    });
    return { past, present };
  }
}
