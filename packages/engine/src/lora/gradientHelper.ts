import type { DecoderConfig } from '../model/config.js';
import type { WeightFormat } from '../model/quantization.js';
import type { LoraModule, LoraTensorSpec } from '../model/weights.js';
import { sharedFloats } from '../threadMemory.js';
import { ThreadCalls } from '../threadCalls.js';
import type { TrainingRun } from './runLayout.js';
import type { TrainingInputs } from './gradientRunner.js';
import type { FlatMatrices } from './parameters.js';
import { toSent, type SentFeeds } from './sentFeeds.js';

/** What the thread needs for all runs. */
export interface HelperInputs {
  readonly config: DecoderConfig;
  readonly format: WeightFormat;
  readonly weights: SentFeeds;
  readonly modules: readonly LoraModule[];
  readonly specs: readonly LoraTensorSpec[];
  readonly threads: number;
  /** The container of `SharedConstants` of all weights. */
  readonly constants: bigint | undefined;
  readonly shared: SharedNumbers;
}

/**
 * Memory of both threads, since copies that are sent would wait for the garbage collector. Each in the order of
 * `FlatMatrices.values`.
 */
interface SharedNumbers {
  /** The adapter as it is now. */
  readonly matrices: Float32Array<SharedArrayBuffer>;
  readonly gradients: Float32Array<SharedArrayBuffer>;
}

export interface HelperRequest {
  readonly run: Omit<TrainingRun, 'feeds'> & { readonly feeds: SentFeeds };
  readonly options: HelpOptions;
}

export interface HelpOptions {
  /** Whether gradients are asked for, beside the loss. */
  readonly gradients: boolean;
  /**
   * This run's place in its sum, from 0 on. The thread refuses a run that does not follow the last one: the thread may
   * have been started anew.
   */
  readonly index: number;
  /** Runs of the whole sum. */
  readonly count: number;
}

/**
 * Computes runs in a thread of its own, while the calling thread computes others: ONNX Runtime blocks the thread that
 * it is called on, and two runs with one thread each take four fifths of the time of two runs, one after the other,
 * with two. Both share the weights.
 */
export class GradientHelper {
  private readonly calls: ThreadCalls<HelperRequest, number>;
  private readonly shared: SharedNumbers;

  /** @param matrices the adapter, as which each run finds it. */
  constructor(
    { weights, constants, ...inputs }: Omit<TrainingInputs, 'matrices'>,
    private readonly matrices: FlatMatrices,
  ) {
    const entry = new URL('./gradientThread.js', import.meta.url);
    const { length } = matrices.values;
    this.shared = { matrices: sharedFloats(length), gradients: sharedFloats(length) };
    const data: HelperInputs = {
      ...inputs,
      specs: matrices.specs,
      weights: toSent(weights),
      constants: constants?.container,
      shared: this.shared,
    };
    this.calls = new ThreadCalls(entry, 'the thread that helps with gradients', data);
  }

  /**
   * A run may be asked for while another is computed. When the last has come, `gradients` has their sum, until the next
   * is asked for.
   * @returns the losses of all runs of the sum so far.
   * @throws EngineError of the run, `internal` when the thread ended, `cancelled` when the helper is closed.
   */
  compute({ feeds, ...run }: TrainingRun, options: HelpOptions): Promise<number> {
    this.shared.matrices.set(this.matrices.values);
    return this.calls.call({ run: { ...run, feeds: toSent(feeds) }, options });
  }

  get gradients(): Float32Array {
    return this.shared.gradients;
  }

  close(): Promise<void> {
    return this.calls.close();
  }
}
