/** Feeds on their way to another thread. */
import type { Feeds } from '../model/inputs.js';
import { Tensor } from '../onnx/tensor.js';

/** Tensors as a thread can be sent them: they are copied, unless their memory is shared. */
export type SentFeeds = Readonly<Record<string, { readonly dims: readonly number[]; readonly data: SentNumbers }>>;
type SentNumbers = Float32Array | BigInt64Array;

export function toSent(feeds: Feeds): SentFeeds {
  const entries = Object.entries(feeds);
  return Object.fromEntries(entries.map(([name, { dims, data }]) => [name, { dims, data: numbersOf(data) }]));
}

export function fromSent(sent: SentFeeds): Feeds {
  return Object.fromEntries(Object.entries(sent).map(([name, { dims, data }]) => [name, new Tensor(data, dims)]));
}

function numbersOf(data: Tensor['data']): SentNumbers {
  if (data instanceof Float32Array || data instanceof BigInt64Array) return data;
  throw new TypeError('A graph is fed float32 and int64 only.');
}
