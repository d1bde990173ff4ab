/** What the inference graph is told of the tokens of a run, besides the cache and the adapters. */
import type { Feeds } from '../model/inputs.js';
import { Tensor } from '../onnx/tensor.js';

/** What one sequence is given. */
export interface StepRow {
  /** At least one, and as many as the other rows of the run have; exactly one where several sequences run together. */
  readonly tokens: readonly number[];
  /** Tokens of the sequence that are in the cache already. */
  readonly cachedTokens: number;
}

/** The inputs `ids`, `ends`, `length` and `last` of `buildInferenceGraph`. */
export function stepFeeds(rows: readonly StepRow[]): Feeds {
  const ids = rows.flatMap(({ tokens }) => tokens.map(BigInt));
  const ends = rows.map(({ tokens, cachedTokens }) => cachedTokens + tokens.length - 1);
  const width = ids.length / rows.length;
  if (rows.some(({ tokens }) => tokens.length !== width)) throw new RangeError('rows have as many tokens each');
  const last = rows.map((_, row) => BigInt((row + 1) * width - 1));
  return {
    ids: new Tensor(BigInt64Array.from(ids), [rows.length, width]),
    ends: new Tensor(Int32Array.from(ends), [rows.length]),
    length: new Tensor(Int32Array.of(Math.max(...ends) + 1), [1]),
    last: new Tensor(BigInt64Array.from(last), [rows.length, 1]),
  };
}
