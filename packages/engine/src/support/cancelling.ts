/** Cancelled calls. */
import { EngineError, type CallOptions } from '../engine.js';

/** @throws EngineError `cancelled` when the signal has aborted. */
export function throwIfCancelled({ signal }: CallOptions): void {
  if (signal?.aborted === true) throw cancelled();
}

/** Settles like `promise`, but rejects with `cancelled` as soon as the signal aborts. */
export function unlessCancelled<T>(promise: Promise<T>, { signal }: CallOptions): Promise<T> {
  if (signal === undefined) return promise;
  // Each call gets a signal of its own. A caller may give one signal to many calls, and Node.js warns of many listeners
  // on one signal.
  const own = AbortSignal.any([signal]);
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(cancelled());
    if (own.aborted) abort();
    own.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => own.removeEventListener('abort', abort));
  });
}

export function engineClosed(): EngineError {
  return new EngineError('cancelled', 'the engine is closed');
}

export function cancelled(): EngineError {
  return new EngineError('cancelled', 'the call was cancelled');
}
