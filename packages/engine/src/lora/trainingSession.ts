/** One adapter under training on ONNX Runtime. */
import { readAdapter, writeAdapter } from '../adapters/adapterFolder.js';
import { loraModules, type LoraHyperparameters } from '../adapters/loraModules.js';
import { MAX_RANK } from '../adapters/peftConfig.js';
import { CallGate } from '../callGate.js';
import { EngineError, type CallOptions, type TrainingSession } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import { gradientName } from '../model/loraParameters.js';
import type { AdapterReference, ResumeOptions, StepResult, TrainingExample, TrainingOptions } from '../types.js';
import { activationBytes, DEFAULT_MAX_ACTIVATION_BYTES, roomForConstants } from './activations.js';
import { AdamW, euclideanNorm } from './adamW.js';
import { buildBatch, requireRoom, type TrainingBatch, type TrainingRun } from './batch.js';
import { throwIfCancelled, WholeGradientRunner, type GradientRunner } from './gradientRunner.js';
import { GradientHelper } from './gradientHelper.js';
import { LayerwiseGradientRunner } from './layerwiseRunner.js';
import { copyMatrices, FlatMatrices, freshMatrices, tensorsOver, toAdapter } from './parameters.js';
import { readSnapshot, writeSnapshot } from './snapshot.js';

/** The model that an adapter is trained for. */
export interface TrainingModel {
  readonly config: DecoderConfig;
  /** See `weightFeeds`; shared with every other session of the model. */
  readonly weights: Feeds;
  /** Identity of the model: written into saved adapters, and what a snapshot goes on with. */
  readonly name: string | null;
  /** Threads of the computation, at least 1. */
  readonly threads: number;
}

const DEFAULT_BETAS = [0.9, 0.999] as const;

/**
 * Starts from a fresh adapter, or from a copy of the parent's weights. A parent keeps its own modules, ranks and
 * scales: its matrices mean something at those only.
 *
 * Each `step` and `evaluate` blocks the thread while it computes; cancelling is seen between runs and, where memory
 * asks for it, between layers.
 * @throws EngineError `invalid_request` or `adapter_invalid`, naming the field.
 */
export async function openTrainingSession(
  model: TrainingModel,
  options: TrainingOptions | ResumeOptions,
): Promise<TrainingSession> {
  if ('resume' in options) return resumeTrainingSession(model, options);
  checkOptions(options);
  const parent = options.parent === null ? null : await readAdapter(options.parent, model.config);
  const { rank, alpha, seed } = options;
  const matrices = parent === null ? freshMatrices(model.config, rank, seed) : copyMatrices(model.config, parent);
  const optimizer = new AdamW(matrices.values, {
    betas: options.betas ?? DEFAULT_BETAS,
    weightDecay: options.weightDecay ?? 0,
    clipNorm: options.clipNorm ?? Infinity,
  });
  return new OnnxTrainingSession(model, parent ?? { rank, alpha }, matrices, optimizer, maxActivationBytes(options));
}

async function resumeTrainingSession(model: TrainingModel, options: ResumeOptions): Promise<TrainingSession> {
  const snapshot = await readSnapshot(options.resume, model.config, model.name);
  const matrices = copyMatrices(model.config, snapshot.adapter);
  const optimizer = new AdamW(matrices.values, snapshot.options, snapshot.optimizer);
  return new OnnxTrainingSession(model, snapshot.adapter, matrices, optimizer, maxActivationBytes(options));
}

class OnnxTrainingSession implements TrainingSession {
  private readonly gradients: FlatMatrices;
  private readonly whole: GradientRunner;
  private readonly layerwise: GradientRunner;
  /** Whether batches have two parts. */
  private readonly shared: boolean;
  /** Computes one of them where there are threads for both. */
  private readonly helper: GradientHelper | null;
  /** The gradients of one run of several. */
  private addend: FlatMatrices | undefined;
  private readonly gate = new CallGate();

  constructor(
    private readonly model: TrainingModel,
    private readonly hyperparameters: LoraHyperparameters,
    private readonly matrices: FlatMatrices,
    private readonly optimizer: AdamW,
    private readonly maxActivationBytes: number,
  ) {
    this.gradients = new FlatMatrices(matrices.specs);
    const { config, weights, threads } = model;
    const modules = loraModules(config, hyperparameters);
    // Where there is room for a copy of the weights, there is room for those of a second thread.
    this.shared = roomForConstants(config, maxActivationBytes);
    const inputs = { config, weights, constants: this.shared, modules };
    const elsewhere = this.shared ? Math.floor(threads / 2) : 0;
    this.helper = elsewhere === 0 ? null : new GradientHelper({ ...inputs, threads: elsewhere }, matrices);
    const own = { ...inputs, threads: threads - elsewhere, matrices: tensorsOver(matrices, (name) => name) };
    this.whole = new WholeGradientRunner(own);
    this.layerwise = new LayerwiseGradientRunner({ ...own, threads });
  }

  step(batch: readonly TrainingExample[], learningRate: number, options: CallOptions = {}): Promise<StepResult> {
    return this.call(options, async (callOptions) => {
      if (!Number.isFinite(learningRate) || learningRate < 0) {
        throw new EngineError('invalid_request', 'learningRate must not be negative.');
      }
      const { runs, tokens } = this.runsOf(batch);
      const loss = await this.compute(runs, true, callOptions);
      const gradientNorm = euclideanNorm(this.gradients.values);
      if (!Number.isFinite(loss) || !Number.isFinite(gradientNorm)) {
        throw new EngineError('internal', 'The loss or its gradient is not finite; the weights are unchanged.');
      }
      throwIfCancelled(callOptions);
      this.optimizer.step(this.gradients.values, gradientNorm, learningRate);
      return { loss, tokens, gradientNorm };
    });
  }

  evaluate(batch: readonly TrainingExample[], options: CallOptions = {}): Promise<StepResult> {
    return this.call(options, async (callOptions) => {
      const { runs, tokens } = this.runsOf(batch);
      return { loss: await this.compute(runs, false, callOptions), tokens, gradientNorm: 0 };
    });
  }

  save(folder: string): Promise<AdapterReference & { readonly sizeBytes: number }> {
    const { model, matrices, hyperparameters } = this;
    return this.call({}, () => writeAdapter(folder, toAdapter(matrices, hyperparameters), model.name));
  }

  snapshot(folder: string): Promise<void> {
    return this.call({}, () => {
      const { state: optimizer, options } = this.optimizer;
      const adapter = toAdapter(this.matrices, this.hyperparameters);
      return writeSnapshot(folder, { adapter, optimizer, options }, this.model.name);
    });
  }

  /** A step under way rejects with `cancelled`, its weights unchanged; what is being written is written to its end. */
  async close(): Promise<void> {
    await this.gate.close();
    await this.whole.close();
    await this.layerwise.close();
    await this.helper?.close();
  }

  private async call<T>(options: CallOptions, call: (options: CallOptions) => Promise<T>): Promise<T> {
    if (this.gate.closed) throw new EngineError('invalid_request', 'The training session is closed.');
    return this.gate.run(options, call);
  }

  private runsOf(batch: readonly TrainingExample[]): TrainingBatch {
    const { config } = this.model;
    const built = buildBatch(batch, config, { shared: this.shared });
    requireRoom(batch, config, this.maxActivationBytes);
    return built;
  }

  /**
   * The loss of the runs and, where they are asked for, their gradients in `gradients`. Of two runs one is computed by the helper,
   * and added after the other as it would be without one.
   */
  private async compute(runs: TrainingBatch['runs'], gradients: boolean, options: CallOptions): Promise<number> {
    // A single run writes where the sum belongs; of several, each is added to it.
    const target = runs.length === 1 ? this.gradients : (this.addend ??= new FlatMatrices(this.matrices.specs));
    const fetches = gradients ? tensorsOver(target, gradientName) : {};
    if (target !== this.gradients) this.gradients.values.fill(0);
    const add = (values: Float32Array | null): void => {
      if (values !== null && values !== this.gradients.values) addTo(this.gradients.values, values);
    };
    const computeHere = async (run: TrainingRun): Promise<number> => {
      const loss = await (!gradients || this.fits(run) ? this.whole : this.layerwise).run(run, fetches, options);
      if (gradients) add(target.values);
      return loss;
    };
    let loss = 0;
    for (const [run, other] of inPairs(runs)) {
      if (other === undefined || this.helper === null || !this.fits(run, other)) {
        loss += await computeHere(run);
        if (other !== undefined) loss += await computeHere(other);
        continue;
      }
      throwIfCancelled(options);
      const [here, there] = await Promise.allSettled([computeHere(run), this.helper.compute(other, gradients)]);
      if (here.status === 'rejected') throw here.reason;
      if (there.status === 'rejected') throw there.reason;
      add(there.value.gradients);
      loss += here.value + there.value.loss;
    }
    return loss;
  }

  /** Whether there is memory to compute the runs at once, each of them whole. */
  private fits(...runs: readonly TrainingRun[]): boolean {
    const bytes = runs.reduce((sum, run) => sum + activationBytes(this.model.config, run), 0);
    return bytes <= this.maxActivationBytes;
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

function checkOptions(options: TrainingOptions): void {
  const requirements: readonly (readonly [string, boolean, string])[] = [
    ['rank', Number.isInteger(options.rank) && options.rank >= 1 && options.rank <= MAX_RANK, `1 to ${MAX_RANK}`],
    ['alpha', Number.isFinite(options.alpha) && options.alpha > 0, 'positive'],
    ['seed', Number.isSafeInteger(options.seed), 'a whole number'],
    ['weightDecay', inRange(options.weightDecay ?? 0, Number.MAX_VALUE), 'at least 0'],
    ['betas', (options.betas ?? DEFAULT_BETAS).every((beta) => inRange(beta, 1) && beta < 1), 'at least 0 and below 1'],
    ['clipNorm', (options.clipNorm ?? 1) > 0, 'positive'],
  ];
  for (const [field, holds, wish] of requirements) {
    if (!holds) throw new EngineError('invalid_request', `${field} must be ${wish}.`);
  }
}

function maxActivationBytes({
  maxActivationBytes: bytes = DEFAULT_MAX_ACTIVATION_BYTES,
}: ResumeOptions | TrainingOptions): number {
  if (!(bytes >= 0)) throw new EngineError('invalid_request', 'maxActivationBytes must be at least 0.');
  return bytes;
}

function inRange(value: number, greatest: number): boolean {
  return value >= 0 && value <= greatest;
}
