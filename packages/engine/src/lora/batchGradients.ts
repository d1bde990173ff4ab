import type { CallOptions } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { factorConstants, type Feeds } from '../model/inputs.js';
import type { MatrixFormat } from '../model/quantization.js';
import type { LoraModule } from '../model/weights.js';
import { SharedConstants } from '../onnx/sharedConstants.js';
import type { TrainingExample } from '../types.js';
import { sum } from '../support/numbers.js';
import { activationBytes, fitsWeightCopies } from './activations.js';
import { buildBatch, requireMemory, type BatchOptions, type TrainingBatch } from './batch.js';
import type { LaidOutRun, TrainingRun } from './runLayout.js';
import { GradientHelper } from './gradientHelper.js';
import { throwIfCancelled } from '../support/cancelling.js';
import { lowestLayer, WholeGradientRunner } from './gradientRunner.js';
import { LowerLayers } from './lowerLayers.js';
import { LayerwiseGradientRunner } from './layerwiseRunner.js';
import { FlatMatrices, tensorsOver } from './parameters.js';
import { GradientAccumulator } from './gradientAccumulator.js';

export interface GradientInputs {
  readonly config: DecoderConfig;
  /** See `WeightsInUse`. */
  readonly format: MatrixFormat;
  readonly weights: Feeds;
  readonly modules: readonly LoraModule[];
  /** The adapter at the time of each call. */
  readonly matrices: FlatMatrices;
  /** Threads of the computation, at least 1. */
  readonly threads: number;
  readonly maxActivationBytes: number;
}

/**
 * Most tokens of a run whose graph has no constants. Each run arranges the matrices anew, so shorter ones are slower.
 * Longer ones take more memory, and are hardly faster where only some layers are trained.
 */
const runTokensWithoutConstants = 256;

/** The loss and gradient of a batch, computed whole or layer by layer, by one thread or by two. */
export class BatchGradients {
  /** The sum over the first part and, in the end, over the whole batch. */
  private readonly whole: GradientAccumulator;
  /** The sum over the second part if no helper computes it. */
  private second: GradientAccumulator | undefined;
  /** Arranged copies of the matrices for the graphs of both threads, if there is memory. */
  private readonly constants: SharedConstants | undefined;
  /** Computes the second part, if there are threads for both. */
  private helper: GradientHelper | null;
  /** Computes beside the helper, with the threads that it leaves. */
  private readonly beside: WholeGradientRunner;
  /** Computes alone, with all threads. */
  private readonly alone: WholeGradientRunner;
  private readonly layerwise: LayerwiseGradientRunner;
  /** Absent if the lowest layer is adapted. */
  private readonly lower: LowerLayers | undefined;

  constructor(private readonly inputs: GradientInputs) {
    const { config, format, weights, modules, matrices, threads, maxActivationBytes } = inputs;
    this.whole = new GradientAccumulator(new FlatMatrices(matrices.specs));
    const constants =
      format === 'f32' && fitsWeightCopies(config, maxActivationBytes)
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
    const lowest = lowestLayer(modules);
    this.lower = lowest === 0 ? undefined : new LowerLayers({ ...model, threads }, lowest);
  }

  /** The gradient of the last batch. */
  get sum(): FlatMatrices {
    return this.whole.gradients;
  }

  /** @throws EngineError as `buildBatch` and `requireMemory` do. */
  batchOf(examples: readonly TrainingExample[]): TrainingBatch {
    const { config, maxActivationBytes } = this.inputs;
    const batch = buildBatch(examples, config, this.runBounds());
    requireMemory(examples, config, maxActivationBytes);
    return batch;
  }

  private runBounds(): BatchOptions {
    return this.constants === undefined ? { maxRunTokens: runTokensWithoutConstants } : {};
  }

  /** @throws EngineError `cancelled` between runs. */
  loss(batch: TrainingBatch, options: CallOptions): Promise<number> {
    return this.compute(batch, false, options);
  }

  /**
   * Computes the loss, and the gradient in `sum`.
   * @throws EngineError `cancelled` between runs, and between layers.
   */
  lossAndGradient(batch: TrainingBatch, options: CallOptions): Promise<number> {
    return this.compute(batch, true, options);
  }

  async close(): Promise<void> {
    await this.beside.close();
    await this.alone.close();
    await this.layerwise.close();
    await this.lower?.close();
    await this.helper?.close();
    this.constants?.release();
  }

  private async compute({ parts }: TrainingBatch, gradients: boolean, options: CallOptions): Promise<number> {
    const [first = [], second = []] = await this.withLowerStates(parts, options);
    const { whole, helper } = this;
    whole.begin(gradients);
    if (helper !== null && second.length > 0 && this.fit(first, second)) {
      const isWhole = await this.share(helper, { first, second, gradients }, options);
      if (isWhole) return whole.loss;
    } else await this.computeAlone(first, whole, options);
    if (second.length === 0) return whole.loss;
    // The second part has a sum of its own that is added after the first, as with the helper.
    const other = (this.second ??= new GradientAccumulator(new FlatMatrices(this.sum.specs)));
    other.begin(gradients);
    await this.computeAlone(second, other, options);
    whole.add(other.loss, other.gradients.values);
    return whole.loss;
  }

  /** A run that is too large to be computed whole begins with its tokens. */
  private async withLowerStates(
    parts: TrainingBatch['parts'],
    options: CallOptions,
  ): Promise<readonly (readonly TrainingRun[])[]> {
    const begin = (run: LaidOutRun): Promise<TrainingRun> | TrainingRun =>
      this.lower !== undefined && this.fit([run]) ? this.lower.begin(run, options) : run;
    const begun: TrainingRun[][] = [];
    for (const part of parts) {
      const runs: TrainingRun[] = [];
      for (const run of part) runs.push(await begin(run));
      begun.push(runs);
    }
    return begun;
  }

  private async computeAlone(
    runs: readonly TrainingRun[],
    sum: GradientAccumulator,
    options: CallOptions,
  ): Promise<void> {
    for (const run of runs) {
      const runner = !sum.withGradients || this.fit([run]) ? this.alone : this.layerwise;
      await sum.compute(runner, run, options);
    }
  }

  /**
   * Computes both parts at once. Returns whether the second part is done. If the helper fails, perhaps for lack of
   * memory, it is not used again.
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
        // One run ahead, because the helper's answer cannot be read while this thread computes.
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
      // Runs that are still being computed would delay the next batch.
      await Promise.all(answers);
      if (this.helper === null) await helper.close();
    }
    if (this.helper === null) return false;
    this.whole.add(loss, helper.gradients);
    return true;
  }

  /** Whether the parts fit in memory at once, each with its largest run computed whole. */
  private fit(...parts: readonly (readonly TrainingRun[])[]): boolean {
    const { config, maxActivationBytes } = this.inputs;
    const largest = parts.map((runs) => Math.max(...runs.map((run) => activationBytes(config, run))));
    return sum(largest) <= maxActivationBytes;
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
