import { knownOr } from '../knownOr.js';
import { KeptTensors } from '../onnx/nativeTensors.js';
import { Tensor } from '../onnx/tensor.js';

/** The logits of some rows, and what a graph writes them into, which is the same memory. */
interface Logits {
  /** `[rows, vocabularySize]` */
  readonly numbers: Float32Array;
  /** The output `logits` of `buildInferenceGraph`. */
  readonly tensors: KeptTensors;
}

/**
 * Where runs write their logits, one after the other: new memory for every token would wait for the garbage collector
 * by the megabyte.
 */
export class LogitsRoom {
  private room = new Float32Array();
  /** Views by the number of rows. */
  private readonly views = new Map<number, Logits>();

  constructor(private readonly vocabularySize: number) {}

  /** Valid until the next run. */
  of(rows: number): Logits {
    const size = rows * this.vocabularySize;
    if (this.room.length < size) {
      this.room = new Float32Array(size);
      this.views.clear();
    }
    return knownOr(this.views, rows, () => {
      const numbers = this.room.subarray(0, size);
      return { numbers, tensors: new KeptTensors({ logits: new Tensor(numbers, [rows, 1, this.vocabularySize]) }) };
    });
  }
}
