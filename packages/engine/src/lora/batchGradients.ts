import type { CallOptions } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import { gradientName } from '../model/loraParameters.js';
import type { LoraModule } from '../model/weights.js';
import type { TrainingExample } from '../types.js';
import { activationBytes, roomForCopies } from './activations.js';
import { buildBatch, requireRoom, type TrainingBatch, type TrainingRun } from './batch.js';
import { GradientHelper } from './gradientHelper.js';
import { throwIfCancelled, WholeGradientRunner, type GradientRunner } from './gradientRunner.js';
import { LayerwiseGradientRunner } from './layerwiseRunner.js';
import { FlatMatrices, tensorsOver } from './parameters.js';

export interface GradientInputs {
  readonly config: DecoderConfig;
  /** See `weightFeeds`. */
  readonly weights: Feeds;
  readonly modules: readonly LoraModule[];
  /** The adapter as it is at each call. */
  readonly matrices: FlatMatrices;
  /** Threads of the computation, at least 1. */
  readonly threads: number;
  readonly maxActivationBytes: number;
}

/** The loss and the gradient of a batch, whole or layer by layer, by one thread or by two that share it. */
export class BatchGradients {
  /** The gradients of the last batch that they were asked for of. */
  readonly sum: FlatMatrices;
  /** Those of one run of several. */
  private addend: FlatMatrices | undefined;
  /** Whether batches have two parts. */
  private readonly hasParts: boolean;
  /** Computes one of them, where there are threads for both. */
  private helper: GradientHelper | null;
  /** Computes beside the helper, with the threads that it leaves. */
  private readonly beside: WholeGradientRunner;
  /** Computes by itself. */
  private readonly alone: WholeGradientRunner;
  private readonly layerwise: LayerwiseGradientRunner;

  constructor(private readonly inputs: GradientInputs) {
    const { config, weights, modules, matrices, threads, maxActivationBytes } = inputs;
    this.sum = new FlatMatrices(matrices.specs);
    const constants = roomForCopies(config, maxActivationBytes);
    this.hasParts = constants;
    const elsewhere = constants ? Math.floor(threads / 2) : 0;
    const model = { config, weights, modules, constants };
    this.helper = elsewhere === 0 ? null : new GradientHelper({ ...model, threads: elsewhere }, matrices);
    const here = { ...model, matrices: tensorsOver(matrices, (name) => name) };
    this.beside = new WholeGradientRunner({ ...here, threads: threads - elsewhere });
    this.alone = new WholeGradientRunner({ ...here, threads });
    this.layerwise = new LayerwiseGradientRunner({ ...here, threads });
  }

  /** @throws EngineError as `buildBatch` and `requireRoom` do. */
  batchOf(examples: readonly TrainingExample[]): TrainingBatch {
    const { config, maxActivationBytes } = this.inputs;
    const batch = buildBatch(examples, config, { inParts: this.hasParts });
    requireRoom(examples, config, maxActivationBytes);
    return batch;
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
  }

  private async compute({ runs }: TrainingBatch, gradients: boolean, options: CallOptions): Promise<number> {
    // A single run writes where the sum belongs; of several, each is added to it.
    const target = !gradients || runs.length === 1 ? this.sum : (this.addend ??= new FlatMatrices(this.sum.specs));
    const fetches = gradients ? tensorsOver(target, gradientName) : {};
    if (gradients && target !== this.sum) this.sum.values.fill(0);
    let loss = 0;
    const add = (computed: number, values: Float32Array | null): void => {
      loss += computed;
      if (gradients && values !== null && values !== this.sum.values) addTo(this.sum.values, values);
    };
    const computeHere = async (run: TrainingRun, runner: GradientRunner): Promise<void> => {
      add(await runner.run(run, fetches, options), target.values);
    };
    const computeAlone = (run: TrainingRun): Promise<void> =>
      computeHere(run, !gradients || this.fit(run) ? this.alone : this.layerwise);
    for (const [run, other] of inPairs(runs)) {
      const { helper } = this;
      if (helper === null || other === undefined || !this.fit(run, other)) {
        await computeAlone(run);
        if (other !== undefined) await computeAlone(other);
        continue;
      }
      throwIfCancelled(options);
      const [here, there] = await Promise.allSettled([computeHere(run, this.beside), helper.compute(other, gradients)]);
      if (here.status === 'rejected') throw here.reason;
      // Added after the other, as it would be without a helper.
      if (there.status === 'fulfilled') add(there.value.loss, there.value.gradients);
      else {
        await this.dismiss(helper);
        await computeAlone(other);
      }
    }
    return loss;
  }

  /** What it can't compute, for want of memory perhaps, is computed without it from now on. */
  private async dismiss(helper: GradientHelper): Promise<void> {
    this.helper = null;
    await helper.close();
  }

  /** Whether there is memory to compute the runs at once, each of them whole. */
  private fit(...runs: readonly TrainingRun[]): boolean {
    const { config, maxActivationBytes } = this.inputs;
    return runs.reduce((sum, run) => sum + activationBytes(config, run), 0) <= maxActivationBytes;
  }
}

function inPairs<T>(items: readonly T[]): readonly (readonly [T, T?])[] {
  return items.flatMap((item, index) => {
    const next = items[index + 1];
    return index % 2 === 1 ? [] : [next === undefined ? ([item] as const) : ([item, next] as const)];
  });
}

function addTo(sum: Float32Array, values: Float32Array): void {
  for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) + (values[index] ?? 0);
}
