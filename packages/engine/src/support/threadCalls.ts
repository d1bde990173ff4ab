import { Worker } from 'node:worker_threads';
import { EngineError, type EngineErrorCode } from '../engine.js';
import { engineClosed } from './cancelling.js';

/** A thread's answer to the request of that number. */
export type ThreadAnswer<Result> =
  | { readonly kind: 'done'; readonly id: number; readonly result: Result }
  | { readonly kind: 'failed'; readonly id: number; readonly code: EngineErrorCode; readonly message: string };

/** A request as it is sent. */
export interface ThreadRequest<Request> {
  readonly id: number;
  readonly request: Request;
}

/** Asks the thread to end. */
export const endMessage = 'end';

/** Both ends belong to this package, so the number suffices. */
export function isThreadRequest(message: unknown): message is ThreadRequest<unknown> {
  return isNumbered(message);
}

function isThreadAnswer<Result>(message: unknown): message is ThreadAnswer<Result> {
  return isNumbered(message);
}

function isNumbered(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'id' in message && typeof message.id === 'number';
}

interface Pending<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: EngineError) => void;
}

/** Calls to a thread. The first call starts it, and so does the next call after it has ended. See `answerCalls`. */
export class ThreadCalls<Request, Result> {
  private thread: Worker | undefined;
  private readonly pending = new Map<number, Pending<Result>>();
  private nextId = 1;
  private closed = false;

  /**
   * @param name the thread's name, which begins error messages.
   * @param workerData copied once, for all calls.
   */
  constructor(
    private readonly entry: URL,
    private readonly name: string,
    private readonly workerData: unknown,
  ) {}

  /**
   * @param handedOver memory of the request that is transferred, not copied.
   * @throws EngineError from the thread; `internal` when the thread ended; `cancelled` when it is closed before the
   *   answer.
   */
  call(request: Request, handedOver: readonly ArrayBuffer[] = []): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.closed) throw engineClosed();
      const thread = (this.thread ??= this.start());
      const id = this.nextId++;
      thread.postMessage({ id, request } satisfies ThreadRequest<Request>, handedOver);
      thread.ref();
      this.pending.set(id, { resolve, reject });
    });
  }

  /**
   * Resolves when the thread has ended. The thread first finishes its computation and frees what is not JavaScript's.
   */
  async close(): Promise<void> {
    const { thread } = this;
    this.closed = true;
    this.thread = undefined;
    this.rejectAll(engineClosed());
    if (thread === undefined) return;
    thread.ref();
    await new Promise((resolve) => {
      thread.on('exit', resolve);
      thread.postMessage(endMessage);
    });
  }

  private start(): Worker {
    const thread = new Worker(this.entry, { execArgv: [], workerData: this.workerData });
    // An idle thread must not keep the process alive.
    thread.unref();
    thread.on('message', (message: unknown) => {
      if (isThreadAnswer<Result>(message)) this.settle(message);
    });
    // A thread ends by itself only if something is wrong, such as a lack of memory.
    const lost = (cause?: unknown): void => {
      if (this.thread !== thread) return;
      this.thread = undefined;
      this.rejectAll(new EngineError('internal', `${this.name} has ended`, { cause }));
    };
    thread.on('error', lost);
    thread.on('exit', () => lost());
    return thread;
  }

  private settle(answer: ThreadAnswer<Result>): void {
    const pending = this.pending.get(answer.id);
    this.pending.delete(answer.id);
    if (this.pending.size === 0) this.thread?.unref();
    if (answer.kind === 'done') pending?.resolve(answer.result);
    else pending?.reject(new EngineError(answer.code, answer.message));
  }

  private rejectAll(error: EngineError): void {
    for (const { reject } of this.pending.values()) reject(error);
    this.pending.clear();
  }
}
