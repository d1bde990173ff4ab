import type { CallOptions } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { factorConstants, type Feeds } from '../model/inputs.js';
import type { WeightFormat } from '../model/quantization.js';
import type { LoraModule } from '../model/weights.js';
import { SharedConstants } from '../onnx/sharedConstants.js';
import type { TrainingExample } from '../types.js';
import { activationBytes, roomForCopies } from './activations.js';
import { buildBatch, requireRoom, type BatchOptions, type TrainingBatch } from './batch.js';
import type { TrainingRun } from './runLayout.js';
import { GradientHelper } from './gradientHelper.js';
import { throwIfCancelled, WholeGradientRunner } from './gradientRunner.js';
import { LayerwiseGradientRunner } from './layerwiseRunner.js';
import { FlatMatrices, tensorsOver } from './parameters.js';
import { RunSum } from './runSum.js';

export interface GradientInputs {
  readonly config: DecoderConfig;
  /** See `WeightsInUse`. */
  readonly format: WeightFormat;
  readonly weights: Feeds;
  readonly modules: readonly LoraModule[];
  /** The adapter as it is at each call. */
  readonly matrices: FlatMatrices;
  /** Threads of the computation, at least 1. */
  readonly threads: number;
  readonly maxActivationBytes: number;
}

/**
 * Tokens of a run whose graph has no constants, as each run arranges the matrices anew; fewer were slower, and as many
 * took half the memory of twice as many.
 */
const RUN_TOKENS_WITHOUT_CONSTANTS = 512;

/** The same with matrices in blocks, which are for machines of little memory. */
const RUN_TOKENS_IN_BLOCKS = 256;

/** The loss and the gradient of a batch, whole or layer by layer, by one thread or by two that share it. */
export class BatchGradients {
  /** Sum over the first part and, in the end, over the whole batch. */
  private readonly whole: RunSum;
  /** Sum over the second part, where no helper computes it. */
  private second: RunSum | undefined;
  /** What the matrices are for the graphs of both threads, where there is room. */
  private readonly constants: SharedConstants | undefined;
  /** Computes the second part, where there are threads for both. */
  private helper: GradientHelper | null;
  /** Computes beside the helper, with the threads that it leaves. */
  private readonly beside: WholeGradientRunner;
  /** Computes by itself. */
  private readonly alone: WholeGradientRunner;
  private readonly layerwise: LayerwiseGradientRunner;

  constructor(private readonly inputs: GradientInputs) {
    const { config, format, weights, modules, matrices, threads, maxActivationBytes } = inputs;
    this.whole = new RunSum(new FlatMatrices(matrices.specs));
    const constants =
      format === 'f32' && roomForCopies(config, maxActivationBytes)
        ? SharedConstants.create(factorConstants(weights))
        : undefined;
    this.constants = constants;
    const elsewhere = Math.floor(threads / 2);
    const model = { config, format, weights, modules, constants };
    this.helper = elsewhere === 0 ? null : new GradientHelper({ ...model, threads: elsewhere }, matrices);
    const here = { ...model, matrices: tensorsOver(matrices, (name) => name) };
    this.beside = new WholeGradientRunner({ ...here, threads: threads - elsewhere });
    this.alone = new WholeGradientRunner({ ...here, threads });
    this.layerwise = new LayerwiseGradientRunner({ ...here, threads });
  }

  /** The gradient of the last batch that it was asked for of. */
  get sum(): FlatMatrices {
    return this.whole.gradients;
  }

  /** @throws EngineError as `buildBatch` and `requireRoom` do. */
  batchOf(examples: readonly TrainingExample[]): TrainingBatch {
    const { config, maxActivationBytes } = this.inputs;
    const batch = buildBatch(examples, config, this.runBounds());
    requireRoom(examples, config, maxActivationBytes);
    return batch;
  }

  private runBounds(): BatchOptions {
    if (this.inputs.format !== 'f32') return { maxRunTokens: RUN_TOKENS_IN_BLOCKS };
    return this.constants === undefined ? { maxRunTokens: RUN_TOKENS_WITHOUT_CONSTANTS } : {};
  }

  /** @throws EngineError `cancelled` between runs. */
  loss(batch: TrainingBatch, options: CallOptions): Promise<number> {
    return this.compute(batch, false, options);
  }

  /**
   * The loss; the gradient is in `sum`.
   * @throws EngineError `cancelled` between runs, and between layers.
   */
  lossAndGradient(batch: TrainingBatch, options: CallOptions): Promise<number> {
    return this.compute(batch, true, options);
  }

  async close(): Promise<void> {
    await this.beside.close();
    await this.alone.close();
    await this.layerwise.close();
    await this.helper?.close();
    this.constants?.release();
  }

  private async compute({ parts }: TrainingBatch, gradients: boolean, options: CallOptions): Promise<number> {
    const [first = [], second = []] = parts;
    const { whole, helper } = this;
    whole.begin(gradients);
    if (helper !== null && second.length > 0 && this.fit(first, second)) {
      const isWhole = await this.share(helper, { first, second, gradients }, options);
      if (isWhole) return whole.loss;
    } else await this.computeAlone(first, whole, options);
    if (second.length === 0) return whole.loss;
    // The second part has a sum of its own, as with the helper, and is added after the first.
    const other = (this.second ??= new RunSum(new FlatMatrices(this.sum.specs)));
    other.begin(gradients);
    await this.computeAlone(second, other, options);
    whole.add(other.loss, other.gradients.values);
    return whole.loss;
  }

  private async computeAlone(runs: readonly TrainingRun[], sum: RunSum, options: CallOptions): Promise<void> {
    for (const run of runs) {
      const runner = !sum.withGradients || this.fit([run]) ? this.alone : this.layerwise;
      await sum.compute(runner, run, options);
    }
  }

  /**
   * Computes both parts at once. Returns whether the second is there, too; where the helper could not, for want of
   * memory perhaps, it is done without from now on.
   */
  private async share(
    helper: GradientHelper,
    { first, second, gradients }: SharedParts,
    options: CallOptions,
  ): Promise<boolean> {
    const answers: Promise<PromiseSettledResult<number>>[] = [];
    let loss = 0;
    try {
      for (let index = 0; index < Math.max(first.length, second.length); index += 1) {
        throwIfCancelled(options);
        // A run ahead, as it would wait for this thread, which computing blocks.
        for (const run of this.helper === null ? [] : second.slice(answers.length, index + 2)) {
          const help = { gradients, index: answers.length, count: second.length };
          answers.push(settled(helper.compute(run, help)));
        }
        const run = first[index];
        if (run !== undefined) await this.whole.compute(this.beside, run, options);
        const answer = await answers[index];
        if (answer?.status === 'rejected') this.helper = null;
        else loss = answer?.value ?? loss;
      }
    } finally {
      // What is still computed is of no use to the next batch, which would wait for it.
      await Promise.all(answers);
      if (this.helper === null) await helper.close();
    }
    if (this.helper === null) return false;
    this.whole.add(loss, helper.gradients);
    return true;
  }

  /** Whether there is memory to compute the parts at once, of each its largest run, as a whole. */
  private fit(...parts: readonly (readonly TrainingRun[])[]): boolean {
    const { config, maxActivationBytes } = this.inputs;
    const largest = parts.map((runs) => Math.max(...runs.map((run) => activationBytes(config, run))));
    return largest.reduce((sum, bytes) => sum + bytes, 0) <= maxActivationBytes;
  }
}

interface SharedParts {
  readonly first: readonly TrainingRun[];
  readonly second: readonly TrainingRun[];
  readonly gradients: boolean;
}

async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [result] = await Promise.allSettled([promise]);
  return result;
}
