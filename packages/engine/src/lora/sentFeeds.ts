/** Feeds on their way to another thread. */
import { Tensor } from '../onnx/tensor.js';
import type { Feeds } from '../model/inputs.js';

/** Tensors as a thread can be sent them: they are copied. */
export type SentFeeds = Readonly<Record<string, { readonly dims: readonly number[]; readonly data: SentNumbers }>>;
type SentNumbers = Float32Array | BigInt64Array;

export function toSent(feeds: Feeds): SentFeeds {
  const entries = Object.entries(feeds);
  return Object.fromEntries(entries.map(([name, { dims, data }]) => [name, { dims, data: numbersOf(data) }]));
}

export function fromSent(sent: SentFeeds): Feeds {
  return Object.fromEntries(Object.entries(sent).map(([name, { dims, data }]) => [name, tensorOf(data, dims)]));
}

function tensorOf(data: SentNumbers, dims: readonly number[]): Tensor {
  return data instanceof Float32Array ? new Tensor(data, dims) : new Tensor(data, dims);
}

function numbersOf(data: Tensor['data']): SentNumbers {
  if (data instanceof Float32Array || data instanceof BigInt64Array) return data;
  throw new TypeError('A graph is fed float32 and int64 only.');
}
