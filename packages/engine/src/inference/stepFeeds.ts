/** The inference graph's inputs for the tokens of a run. Cache and adapters have inputs of their own. */
import { getOrCreate } from '../support/getOrCreate.js';
import { RegisteredTensors } from '../onnx/nativeTensors.js';
import { Tensor } from '../onnx/tensor.js';

/** One sequence of a run. */
export interface StepRow {
  /** At least one, and as many as the other rows have. Exactly one if several sequences run together. */
  readonly tokens: readonly number[];
  /** The number of tokens of the sequence that are in the cache already. */
  readonly cachedTokens: number;
}

/**
 * The inputs `ids`, `ends`, `length` and `last` of `buildInferenceGraph`. Runs of the same shape share their tensors,
 * with new numbers.
 */
export class StepFeeds {
  private readonly shapes = new Map<string, StepShape>();

  /** Valid until the next call. */
  forRows(rows: readonly StepRow[]): RegisteredTensors {
    const width = rows[0]?.tokens.length ?? 0;
    const key = `${rows.length}x${width}`;
    const shape = getOrCreate(this.shapes, key, () => new StepShape(rows.length, width));
    shape.write(rows);
    return shape.tensors;
  }
}

/** Feeds for `count` rows of `width` tokens each. */
class StepShape {
  readonly tensors: RegisteredTensors;
  private readonly ids: BigInt64Array;
  private readonly ends: Int32Array;
  private readonly length = new Int32Array(1);

  constructor(
    count: number,
    private readonly width: number,
  ) {
    this.ids = new BigInt64Array(count * width);
    this.ends = new Int32Array(count);
    const last = BigInt64Array.from({ length: count }, (_, row) => BigInt((row + 1) * width - 1));
    this.tensors = new RegisteredTensors({
      ids: new Tensor(this.ids, [count, width]),
      ends: new Tensor(this.ends, [count]),
      length: new Tensor(this.length, [1]),
      last: new Tensor(last, [count, 1]),
    });
  }

  write(rows: readonly StepRow[]): void {
    let longest = 0;
    for (const [row, { tokens, cachedTokens }] of rows.entries()) {
      if (tokens.length !== this.width) throw new RangeError('rows have as many tokens each');
      for (const [index, token] of tokens.entries()) this.ids[row * this.width + index] = BigInt(token);
      const length = cachedTokens + tokens.length;
      this.ends[row] = length - 1;
      longest = Math.max(longest, length);
    }
    this.length[0] = longest;
  }
}
