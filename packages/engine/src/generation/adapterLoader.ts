import { Worker } from 'node:worker_threads';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { AdapterReference } from '../types.js';
import { isThreadAnswer, type ThreadAnswer, type ThreadRequest } from './adapterThreadMessages.js';
import type { LoadedAdapter } from './loadedAdapter.js';

interface Pending {
  readonly resolve: (adapter: LoadedAdapter) => void;
  readonly reject: (error: EngineError) => void;
}

/**
 * Makes adapters ready in a thread of its own. Reading a file takes a dozen turns of the event loop, each of which would wait
 * for a step of the model, and hashing and checking what was read would hold up every answer.
 */
export class AdapterLoader {
  private thread: Worker | undefined;
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;
  private closed = false;

  constructor(private readonly config: DecoderConfig) {}

  /** @throws EngineError `adapter_invalid`, or `cancelled` when the loader is closed, or is closed meanwhile. */
  load(reference: AdapterReference): Promise<LoadedAdapter> {
    return new Promise((resolve, reject) => {
      if (this.closed) throw engineClosed();
      this.thread ??= this.start();
      const id = this.nextId++;
      this.pending.set(id, { resolve, reject });
      const request: ThreadRequest = { kind: 'load', id, reference, config: this.config };
      this.thread.ref();
      this.thread.postMessage(request);
    });
  }

  async close(): Promise<void> {
    const { thread } = this;
    this.closed = true;
    this.thread = undefined;
    this.rejectAll(engineClosed());
    await thread?.terminate();
  }

  private start(): Worker {
    const thread = new Worker(new URL('./adapterThread.js', import.meta.url), { execArgv: [] });
    thread.on('message', (message: unknown) => {
      if (isThreadAnswer(message)) this.settle(message);
    });
    // A thread ends by itself only where something is wrong, such as memory that cannot be had; the next load starts another.
    const lost = (cause?: unknown): void => {
      if (this.thread !== thread) return;
      this.thread = undefined;
      this.rejectAll(new EngineError('internal', 'the thread that loads adapters has ended', { cause }));
    };
    thread.on('error', lost);
    thread.on('exit', () => lost());
    return thread;
  }

  private settle(answer: ThreadAnswer): void {
    const pending = this.pending.get(answer.id);
    this.pending.delete(answer.id);
    // An idle thread keeps no process alive.
    if (this.pending.size === 0) this.thread?.unref();
    if (answer.kind === 'loaded') pending?.resolve(answer.adapter);
    else pending?.reject(new EngineError(answer.code, answer.message));
  }

  private rejectAll(error: EngineError): void {
    for (const { reject } of this.pending.values()) reject(error);
    this.pending.clear();
  }
}

function engineClosed(): EngineError {
  return new EngineError('cancelled', 'the engine is closed');
}
