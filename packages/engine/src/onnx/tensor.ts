/** What graphs are fed and what they give. */

/** Numbers of the types that the engine's graphs take and give: float32, int32, int64, int8, and int4 in pairs. */
export type TensorData = Float32Array | Int32Array | BigInt64Array | Int8Array;

/** No graph here has a tensor of more dimensions. */
export const maxRank = 8;

/** An array of numbers in memory of the caller's: a run reads it, or writes it, where it is. */
export class Tensor {
  /**
   * @param numbersPerItem of `data`: 2 for int4, the first in the lower half of its byte.
   * @throws RangeError when the numbers are not as many as the dimensions say, which are 8 at most.
   */
  constructor(
    readonly data: TensorData,
    readonly dims: readonly number[],
    readonly numbersPerItem: 1 | 2 = 1,
  ) {
    const size = dims.reduce((product, length) => product * length, 1);
    if (dims.length > maxRank) throw new RangeError(`a tensor has at most ${maxRank} dimensions`);
    const count = data.length * numbersPerItem;
    if (size !== count) throw new RangeError(`${count} numbers are not [${dims.join(', ')}]`);
  }
}

/** Tensors by the names that a graph has for them. */
export type Tensors = Readonly<Record<string, Tensor>>;
