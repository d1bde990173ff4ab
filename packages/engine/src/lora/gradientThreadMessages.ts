/** What a `GradientHelper` and its thread say to each other. */
import { Tensor } from 'onnxruntime-node';
import type { EngineErrorCode } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import type { LoraModule, LoraTensorSpec } from '../model/weights.js';
import type { TrainingRun } from './batch.js';

/** Tensors as a thread can be sent them: they are copied. */
export type SentFeeds = Readonly<Record<string, { readonly dims: readonly number[]; readonly data: SentNumbers }>>;
type SentNumbers = Float32Array | BigInt64Array;

export type ThreadRequest =
  | {
      readonly kind: 'open';
      readonly config: DecoderConfig;
      readonly weights: SentFeeds;
      readonly modules: readonly LoraModule[];
      readonly specs: readonly LoraTensorSpec[];
      readonly threads: number;
      readonly constants: boolean;
    }
  | {
      readonly kind: 'run';
      readonly run: Omit<TrainingRun, 'feeds'> & { readonly feeds: SentFeeds };
      /** The adapter as it is now, see `FlatMatrices.values`. */
      readonly matrices: Float32Array;
      /** Whether they are asked for, beside the loss. */
      readonly gradients: boolean;
    };

export type ThreadAnswer =
  | { readonly kind: 'computed'; readonly loss: number; readonly gradients: Float32Array | null }
  | { readonly kind: 'failed'; readonly code: EngineErrorCode; readonly message: string };

/** Both ends are this package's own, so that the kind tells the rest. */
export function isThreadRequest(message: unknown): message is ThreadRequest {
  return ['open', 'run'].includes(kindOf(message));
}

export function isThreadAnswer(message: unknown): message is ThreadAnswer {
  return ['computed', 'failed'].includes(kindOf(message));
}

export function toSent(feeds: Feeds): SentFeeds {
  return Object.fromEntries(
    Object.entries(feeds).map(([name, { dims, data }]) => [name, { dims, data: numbersOf(data) }]),
  );
}

export function fromSent(sent: SentFeeds): Feeds {
  return Object.fromEntries(
    Object.entries(sent).map(([name, { dims, data }]) => [
      name,
      data instanceof Float32Array ? new Tensor('float32', data, dims) : new Tensor('int64', data, dims),
    ]),
  );
}

function numbersOf(data: Tensor['data']): SentNumbers {
  if (data instanceof Float32Array || data instanceof BigInt64Array) return data;
  throw new TypeError('A graph is fed float32 and int64 only.');
}

function kindOf(message: unknown): string {
  const isObject = typeof message === 'object' && message !== null && 'kind' in message;
  return isObject && typeof message.kind === 'string' ? message.kind : '';
}
