/** What an `AdapterLoader` and its thread say to each other. */
import type { EngineErrorCode } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { AdapterReference } from '../types.js';
import type { LoadedAdapter } from './loadedAdapter.js';

export interface ThreadRequest {
  readonly kind: 'load';
  readonly id: number;
  readonly reference: AdapterReference;
  /** The model that the adapter must fit. */
  readonly config: DecoderConfig;
}

export type ThreadAnswer =
  | { readonly kind: 'loaded'; readonly id: number; readonly adapter: LoadedAdapter }
  | { readonly kind: 'failed'; readonly id: number; readonly code: EngineErrorCode; readonly message: string };

/** Both ends are this package's own, so that the kind tells the rest. */
export function isThreadRequest(message: unknown): message is ThreadRequest {
  return kindOf(message) === 'load';
}

export function isThreadAnswer(message: unknown): message is ThreadAnswer {
  return ['loaded', 'failed'].includes(kindOf(message));
}

function kindOf(message: unknown): string {
  const isObject = typeof message === 'object' && message !== null && 'kind' in message;
  return isObject && typeof message.kind === 'string' ? message.kind : '';
}
