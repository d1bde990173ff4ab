import { Worker } from 'node:worker_threads';
import { EngineError } from '../engine.js';
import type { TrainingRun } from './batch.js';
import type { TrainingInputs } from './gradientRunner.js';
import { isThreadAnswer, toSent, type ThreadAnswer, type ThreadRequest } from './gradientThreadMessages.js';
import type { FlatMatrices } from './parameters.js';

/** What a run gives: its loss and, where they are asked for, its gradients in the order of `FlatMatrices.values`. */
export interface Computed {
  readonly loss: number;
  readonly gradients: Float32Array | null;
}

interface Pending {
  readonly resolve: (computed: Computed) => void;
  readonly reject: (error: EngineError) => void;
}

/**
 * Computes one run in a thread of its own, while the calling thread computes another: ONNX Runtime blocks the thread that it is called
 * on, and two runs with one thread each take four fifths of the time of two runs, one after the other, with two. It has
 * a copy of the weights, since memory that threads share can't be fed to ONNX Runtime.
 */
export class GradientHelper {
  private thread: Worker | undefined;
  private pending: Pending | undefined;
  private closed = false;

  constructor(
    private readonly inputs: Omit<TrainingInputs, 'matrices'>,
    private readonly matrices: FlatMatrices,
  ) {}

  /**
   * One run at a time.
   * @throws EngineError `internal` when it failed or the thread ended; the next run starts another.
   */
  compute({ feeds, ...run }: TrainingRun, gradients: boolean): Promise<Computed> {
    return new Promise((resolve, reject) => {
      if (this.closed || this.pending !== undefined)
        throw new EngineError('internal', 'The thread that helps with gradients is closed or busy.');
      this.thread ??= this.start();
      this.pending = { resolve, reject };
      this.thread.ref();
      const request: ThreadRequest = {
        kind: 'run',
        run: { ...run, feeds: toSent(feeds) },
        matrices: this.matrices.values,
        gradients,
      };
      this.thread.postMessage(request);
    });
  }

  /** When no run is under way. */
  async close(): Promise<void> {
    const { thread } = this;
    this.closed = true;
    this.thread = undefined;
    await thread?.terminate();
  }

  private start(): Worker {
    const { weights, ...inputs } = this.inputs;
    const thread = new Worker(new URL('./gradientThread.js', import.meta.url), { execArgv: [] });
    thread.on('message', (message: unknown) => {
      if (isThreadAnswer(message)) this.settle(message);
    });
    // A thread ends by itself only where something is wrong, such as memory that cannot be had.
    const lost = (cause?: unknown): void => {
      if (this.thread !== thread) return;
      this.thread = undefined;
      const error = new EngineError('internal', 'The thread that helps with gradients has ended.', { cause });
      this.pending?.reject(error);
      this.pending = undefined;
    };
    thread.on('error', lost);
    thread.on('exit', () => lost());
    const request: ThreadRequest = { kind: 'open', ...inputs, specs: this.matrices.specs, weights: toSent(weights) };
    thread.postMessage(request);
    return thread;
  }

  private settle(answer: ThreadAnswer): void {
    const { pending } = this;
    this.pending = undefined;
    // An idle thread keeps no process alive.
    this.thread?.unref();
    if (answer.kind === 'computed') pending?.resolve(answer);
    else pending?.reject(new EngineError(answer.code, answer.message));
  }
}
