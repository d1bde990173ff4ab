import type { DecoderConfig } from '../model/config.js';
import type { MatrixFormat } from '../model/quantization.js';
import type { LoraModule, LoraTensorSpec } from '../model/weights.js';
import { sharedFloats } from '../support/threadMemory.js';
import { ThreadCalls } from '../support/threadCalls.js';
import type { TrainingRun } from './runLayout.js';
import type { TrainingInputs } from './gradientRunner.js';
import type { FlatMatrices } from './parameters.js';
import { toTransferred, type TransferredFeeds } from './transferredFeeds.js';

/** Inputs that the thread gets once and uses for all runs. */
export interface HelperInputs {
  readonly config: DecoderConfig;
  readonly format: MatrixFormat;
  readonly weights: TransferredFeeds;
  readonly modules: readonly LoraModule[];
  readonly specs: readonly LoraTensorSpec[];
  readonly threads: number;
  /** The container of the `SharedConstants` of all weights. */
  readonly constants: bigint | undefined;
  readonly shared: SharedNumbers;
}

/**
 * Memory that both threads share, because copies would wait for the garbage collector. Each array is in the order of
 * `FlatMatrices.values`.
 */
interface SharedNumbers {
  /** The adapter at this moment. */
  readonly matrices: Float32Array<SharedArrayBuffer>;
  readonly gradients: Float32Array<SharedArrayBuffer>;
}

export interface HelperRequest {
  readonly run: Omit<TrainingRun, 'feeds'> & { readonly feeds: TransferredFeeds };
  readonly options: HelpOptions;
}

export interface HelpOptions {
  /** Whether gradients are asked for besides the loss. */
  readonly gradients: boolean;
  /**
   * The run's index in its sum, from 0. The thread refuses a run that does not follow the last one, because the thread
   * may have been restarted.
   */
  readonly index: number;
  /** The number of runs in the whole sum. */
  readonly count: number;
}

/**
 * Computes runs in a thread of its own while the calling thread computes others. ONNX Runtime blocks the thread that
 * calls it. Two runs side by side with one thread each take four fifths of the time of two runs in turn with two
 * threads each. Both threads share the weights.
 */
export class GradientHelper {
  private readonly calls: ThreadCalls<HelperRequest, number>;
  private readonly shared: SharedNumbers;

  /** @param matrices the adapter. Each run uses its present state. */
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
      weights: toTransferred(weights),
      constants: constants?.container,
      shared: this.shared,
    };
    this.calls = new ThreadCalls(entry, 'the thread that helps with gradients', data);
  }

  /**
   * Computes a run, which may be asked for while another is computed. After the last run `gradients` has their sum,
   * until the next run is asked for.
   * @returns the summed losses of all runs so far.
   * @throws EngineError of the run; `internal` when the thread ended; `cancelled` when the helper is closed.
   */
  compute({ feeds, packed, rows, length, targets }: TrainingRun, options: HelpOptions): Promise<number> {
    this.shared.matrices.set(this.matrices.values);
    return this.calls.call({ run: { packed, rows, length, targets, feeds: toTransferred(feeds) }, options });
  }

  get gradients(): Float32Array {
    return this.shared.gradients;
  }

  close(): Promise<void> {
    return this.calls.close();
  }
}
