/** One adapter under training on ONNX Runtime. */
import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { readAdapter, writeAdapter } from '../adapters/adapterFolder.js';
import { loraModules, type LoraHyperparameters } from '../adapters/loraModules.js';
import { MAX_RANK } from '../adapters/peftConfig.js';
import { EngineError, type CallOptions, type TrainingSession } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import { buildTrainingGraph, gradientName } from '../model/trainingGraph.js';
import { createSession } from '../onnx/session.js';
import type { AdapterReference, ResumeOptions, StepResult, TrainingExample, TrainingOptions } from '../types.js';
import { AdamW, euclideanNorm } from './adamW.js';
import { buildBatch, type TrainingBatch } from './batch.js';
import { copyMatrices, FlatMatrices, freshMatrices, toAdapter } from './parameters.js';
import { readSnapshot, writeSnapshot } from './snapshot.js';

/** The model that an adapter is trained for. */
export interface TrainingModel {
  readonly config: DecoderConfig;
  /** See `weightFeeds`; shared with every other session of the model. */
  readonly weights: Feeds;
  /** Identity of the model: written into saved adapters, and what a snapshot goes on with. */
  readonly name: string | null;
  /** Threads inside one operator, at least 1. */
  readonly threads: number;
}

const DEFAULT_BETAS = [0.9, 0.999] as const;

/**
 * Starts from a fresh adapter, or from a copy of the parent's weights. A parent keeps its own modules, ranks and
 * scales: its matrices mean something at those only.
 *
 * Each `step` and `evaluate` blocks the thread while it computes; cancelling is seen between runs.
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
  return new OnnxTrainingSession(model, parent ?? { rank, alpha }, matrices, optimizer);
}

async function resumeTrainingSession(model: TrainingModel, options: ResumeOptions): Promise<TrainingSession> {
  const snapshot = await readSnapshot(options.resume, model.config, model.name);
  const matrices = copyMatrices(model.config, snapshot.adapter);
  const optimizer = new AdamW(matrices.values, snapshot.options, snapshot.optimizer);
  return new OnnxTrainingSession(model, snapshot.adapter, matrices, optimizer);
}

class OnnxTrainingSession implements TrainingSession {
  private readonly gradients: FlatMatrices;
  private readonly matrixFeeds: Feeds;
  /** Sessions with and without gradients, made when first needed. */
  private readonly sessions = new Map<boolean, InferenceSession>();
  private closed = false;

  constructor(
    private readonly model: TrainingModel,
    private readonly hyperparameters: LoraHyperparameters,
    private readonly matrices: FlatMatrices,
    private readonly optimizer: AdamW,
  ) {
    this.gradients = new FlatMatrices(matrices.specs);
    this.matrixFeeds = tensors(matrices, (name) => name);
  }

  async step(batch: readonly TrainingExample[], learningRate: number, options: CallOptions = {}): Promise<StepResult> {
    if (!Number.isFinite(learningRate) || learningRate < 0) {
      throw new EngineError('invalid_request', 'learningRate must not be negative.');
    }
    const { runs, tokens } = buildBatch(batch, this.model.config);
    const loss = await this.computeGradients(runs, options);
    const gradientNorm = euclideanNorm(this.gradients.values);
    if (!Number.isFinite(loss) || !Number.isFinite(gradientNorm)) {
      throw new EngineError('internal', 'The loss or its gradient is not finite; the weights are unchanged.');
    }
    this.optimizer.step(this.gradients.values, gradientNorm, learningRate);
    return { loss, tokens, gradientNorm };
  }

  async evaluate(batch: readonly TrainingExample[], options: CallOptions = {}): Promise<StepResult> {
    const { runs, tokens } = buildBatch(batch, this.model.config);
    const session = await this.session(false);
    let loss = 0;
    for (const run of runs) loss += await this.run(session, run, {}, options);
    return { loss, tokens, gradientNorm: 0 };
  }

  async save(folder: string): Promise<AdapterReference & { readonly sizeBytes: number }> {
    this.checkOpen();
    return writeAdapter(folder, toAdapter(this.matrices, this.hyperparameters), this.model.name);
  }

  async snapshot(folder: string): Promise<void> {
    this.checkOpen();
    const { state: optimizer, options } = this.optimizer;
    const adapter = toAdapter(this.matrices, this.hyperparameters);
    await writeSnapshot(folder, { adapter, optimizer, options }, this.model.name);
  }

  async close(): Promise<void> {
    this.closed = true;
    const sessions = [...this.sessions.values()];
    this.sessions.clear();
    for (const session of sessions) await session.release();
  }

  /** Fills `gradients` with the batch's gradient and returns its loss. */
  private async computeGradients(runs: TrainingBatch['runs'], options: CallOptions): Promise<number> {
    const session = await this.session(true);
    // A single run writes where the sum belongs; of several, each is added to it.
    const target = runs.length === 1 ? this.gradients : new FlatMatrices(this.matrices.specs);
    const fetches = tensors(target, gradientName);
    const sum = this.gradients.values;
    if (target !== this.gradients) sum.fill(0);
    let loss = 0;
    for (const run of runs) {
      loss += await this.run(session, run, fetches, options);
      if (target === this.gradients) continue;
      addTo(sum, target.values);
    }
    return loss;
  }

  private async run(session: InferenceSession, run: Feeds, fetches: Feeds, options: CallOptions): Promise<number> {
    if (options.signal?.aborted === true) throw new EngineError('cancelled', 'The training call was cancelled.');
    const loss = new Float32Array(1);
    const outputs = { ...fetches, loss: new Tensor('float32', loss, []) };
    await session.run({ ...this.model.weights, ...this.matrixFeeds, ...run }, outputs);
    return loss[0] ?? NaN;
  }

  private async session(gradients: boolean): Promise<InferenceSession> {
    this.checkOpen();
    let session = this.sessions.get(gradients);
    if (session === undefined) {
      const { config } = this.model;
      const graph = buildTrainingGraph(config, { modules: loraModules(config, this.hyperparameters), gradients });
      session = await createSession(graph, { threads: this.model.threads });
      this.sessions.set(gradients, session);
    }
    return session;
  }

  private checkOpen(): void {
    if (this.closed) throw new EngineError('invalid_request', 'The training session is closed.');
  }
}

function addTo(sum: Float32Array, values: Float32Array): void {
  for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) + (values[index] ?? 0);
}

/** Tensors over the memory of the matrices. */
function tensors(flat: FlatMatrices, rename: (name: string) => string): Feeds {
  const feeds: Record<string, Tensor> = {};
  for (const [name, { shape, data }] of flat.matrices) feeds[rename(name)] = new Tensor('float32', data, shape);
  return feeds;
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

function inRange(value: number, greatest: number): boolean {
  return value >= 0 && value <= greatest;
}
