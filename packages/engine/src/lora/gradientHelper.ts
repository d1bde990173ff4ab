import type { DecoderConfig } from '../model/config.js';
import type { LoraModule, LoraTensorSpec } from '../model/weights.js';
import { ThreadCalls } from '../threadCalls.js';
import type { TrainingRun } from './batch.js';
import type { TrainingInputs } from './gradientRunner.js';
import type { FlatMatrices } from './parameters.js';
import { toSent, type SentFeeds } from './sentFeeds.js';

/** What the thread needs for all runs. */
export interface HelperInputs {
  readonly config: DecoderConfig;
  readonly weights: SentFeeds;
  readonly modules: readonly LoraModule[];
  readonly specs: readonly LoraTensorSpec[];
  readonly threads: number;
  readonly constants: boolean;
}

export interface HelperRequest {
  readonly run: Omit<TrainingRun, 'feeds'> & { readonly feeds: SentFeeds };
  /** The adapter as it is now, see `FlatMatrices.values`. */
  readonly matrices: Float32Array;
  /** Whether they are asked for, beside the loss. */
  readonly gradients: boolean;
}

/** What a run gives: its loss and, where they are asked for, its gradients in the order of `FlatMatrices.values`. */
export interface HelperResult {
  readonly loss: number;
  readonly gradients: Float32Array | null;
}

/**
 * Computes runs in a thread of its own, while the calling thread computes others: ONNX Runtime blocks the thread that it is called
 * on, and two runs with one thread each take four fifths of the time of two runs, one after the other, with two. It has
 * a copy of the weights, since memory that threads share can't be fed to ONNX Runtime.
 */
export class GradientHelper {
  private readonly calls: ThreadCalls<HelperRequest, HelperResult>;

  /** @param matrices the adapter, as which each run finds it. */
  constructor(
    { weights, ...inputs }: Omit<TrainingInputs, 'matrices'>,
    private readonly matrices: FlatMatrices,
  ) {
    const entry = new URL('./gradientThread.js', import.meta.url);
    const data: HelperInputs = { ...inputs, specs: matrices.specs, weights: toSent(weights) };
    this.calls = new ThreadCalls(entry, 'the thread that helps with gradients', data);
  }

  /** @throws EngineError of the run, `internal` when the thread ended, `cancelled` when the helper is closed. */
  compute({ feeds, ...run }: TrainingRun, gradients: boolean): Promise<HelperResult> {
    return this.calls.call({ run: { ...run, feeds: toSent(feeds) }, matrices: this.matrices.values, gradients });
  }

  close(): Promise<void> {
    return this.calls.close();
  }
}
