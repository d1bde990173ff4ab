/** Feeds that are sent to another thread. */
import type { Feeds } from '../model/inputs.js';
import { Tensor } from '../onnx/tensor.js';

/** Tensors in a form that can be sent to a thread. They are copied unless their memory is shared. */
export type TransferredFeeds = Readonly<Record<string, TransferredTensor>>;

interface TransferredTensor {
  readonly dims: readonly number[];
  readonly data: Float32Array | BigInt64Array | Int8Array;
  readonly numbersPerItem: 1 | 2;
}

export function toTransferred(feeds: Feeds): TransferredFeeds {
  const entries = Object.entries(feeds);
  return Object.fromEntries(entries.map(([name, tensor]) => [name, transferredTensor(tensor)]));
}

export function fromTransferred(sent: TransferredFeeds): Feeds {
  const entries = Object.entries(sent);
  return Object.fromEntries(
    entries.map(([name, { data, dims, numbersPerItem }]) => [name, new Tensor(data, dims, numbersPerItem)]),
  );
}

function transferredTensor({ data, dims, numbersPerItem }: Tensor): TransferredTensor {
  if (data instanceof Int32Array) throw new TypeError('a graph of training is fed no int32');
  return { data, dims, numbersPerItem };
}
