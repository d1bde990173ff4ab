import { Worker } from 'node:worker_threads';
import { EngineError, type EngineErrorCode } from './engine.js';

/** What a thread answers to the request of that number. */
export type ThreadAnswer<Result> =
  | { readonly kind: 'done'; readonly id: number; readonly result: Result }
  | { readonly kind: 'failed'; readonly id: number; readonly code: EngineErrorCode; readonly message: string };

/** A request as it is sent. */
export interface ThreadRequest<Request> {
  readonly id: number;
  readonly request: Request;
}

/** Asks the thread to end. */
export const END = 'end';

/** Both ends are this package's own, so that the number tells the rest. */
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

/**
 * Calls of a thread, which is started by the first of them, and by the next one after it has ended; see `answerCalls`.
 */
export class ThreadCalls<Request, Result> {
  private thread: Worker | undefined;
  private readonly pending = new Map<number, Pending<Result>>();
  private nextId = 1;
  private closed = false;

  /**
   * @param name what the thread is, at the beginning of a message.
   * @param workerData what it needs for all calls; it is copied.
   */
  constructor(
    private readonly entry: URL,
    private readonly name: string,
    private readonly workerData: unknown,
  ) {}

  /**
   * @param handedOver memory of the request that is not copied.
   * @throws EngineError of the thread's own, `internal` when it ended, `cancelled` when it is closed, or is closed
   * meanwhile.
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

  /** Ends when the thread has; it finishes what it computes, and frees what is not JavaScript's. */
  async close(): Promise<void> {
    const { thread } = this;
    this.closed = true;
    this.thread = undefined;
    this.rejectAll(engineClosed());
    if (thread === undefined) return;
    thread.ref();
    await new Promise((resolve) => {
      thread.on('exit', resolve);
      thread.postMessage(END);
    });
  }

  private start(): Worker {
    const thread = new Worker(this.entry, { execArgv: [], workerData: this.workerData });
    // An idle thread keeps no process alive.
    thread.unref();
    thread.on('message', (message: unknown) => {
      if (isThreadAnswer<Result>(message)) this.settle(message);
    });
    // A thread ends by itself only where something is wrong, such as memory that cannot be had.
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

function engineClosed(): EngineError {
  return new EngineError('cancelled', 'the engine is closed');
}
