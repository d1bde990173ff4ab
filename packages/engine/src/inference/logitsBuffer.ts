import { getOrCreate } from '../support/getOrCreate.js';
import { RegisteredTensors } from '../onnx/nativeTensors.js';
import { Tensor } from '../onnx/tensor.js';

/** The logits of some rows, and the tensor over the same memory that a graph writes them into. */
interface Logits {
  /** `[rows, vocabularySize]` */
  readonly numbers: Float32Array;
  /** The output `logits` of `buildInferenceGraph`. */
  readonly tensors: RegisteredTensors;
}

/**
 * The memory that all runs write their logits into. New memory for every token would leave megabytes to the garbage
 * collector.
 */
export class LogitsBuffer {
  private buffer = new Float32Array();
  /** Views by number of rows. */
  private readonly views = new Map<number, Logits>();

  constructor(private readonly vocabularySize: number) {}

  /** Valid until the next run. */
  forRows(rows: number): Logits {
    const size = rows * this.vocabularySize;
    if (this.buffer.length < size) {
      this.buffer = new Float32Array(size);
      this.views.clear();
    }
    return getOrCreate(this.views, rows, () => {
      const numbers = this.buffer.subarray(0, size);
      return {
        numbers,
        tensors: new RegisteredTensors({ logits: new Tensor(numbers, [rows, 1, this.vocabularySize]) }),
      };
    });
  }
}
