/** Inputs and outputs of graphs. */
import { elementCount } from '../support/numbers.js';

/** The number types of the engine's graphs: float32, int32, int64, int8, and int4 in pairs. */
export type TensorData = Float32Array | Int32Array | BigInt64Array | Int8Array;

/** No graph of the engine has a tensor of more dimensions. */
export const maxDimensions = 8;

/** An array of numbers in the caller's memory. A run reads or writes it in place. */
export class Tensor {
  /**
   * @param numbersPerItem of `data`: 2 for int4, with the first number in the lower half of its byte.
   * @throws RangeError when the number of numbers does not match the dimensions, or when there are more than 8.
   */
  constructor(
    readonly data: TensorData,
    readonly dims: readonly number[],
    readonly numbersPerItem: 1 | 2 = 1,
  ) {
    if (dims.length > maxDimensions) throw new RangeError(`a tensor has at most ${maxDimensions} dimensions`);
    const count = data.length * numbersPerItem;
    if (elementCount(dims) !== count) throw new RangeError(`${count} numbers are not [${dims.join(', ')}]`);
  }
}

/** Tensors by their names in a graph. */
export type Tensors = Readonly<Record<string, Tensor>>;
