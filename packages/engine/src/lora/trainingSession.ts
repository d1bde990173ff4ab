/** One adapter under training on ONNX Runtime. */
import { createHash } from 'node:crypto';
import { readAdapter, writeAdapter } from '../adapters/adapterFolder.js';
import { loraModules, type LoraHyperparameters } from '../adapters/loraModules.js';
import { MAX_RANK } from '../adapters/peftConfig.js';
import { CallGate } from '../callGate.js';
import { EngineError, type CallOptions, type TrainingSession } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { WeightsInUse } from '../model/sharedWeights.js';
import type {
  AdapterPrecision,
  AdapterReference,
  ResumeOptions,
  StepResult,
  TrainingExample,
  TrainingOptions,
} from '../types.js';
import { defaultActivationBytes, passingBytes } from './activations.js';
import { AdamW, euclideanNorm } from './adamW.js';
import { checkTokens } from './batch.js';
import { BatchGradients } from './batchGradients.js';
import { throwIfCancelled } from './gradientRunner.js';
import type { FlatMatrices } from './parameters.js';
import { copyMatrices, freshMatrices, toAdapter, trainedBytes } from './parameters.js';
import { readSnapshot, writeSnapshot } from './snapshot.js';
import { sparedDirections } from './sparedDirections.js';
import { Sparing } from './sparing.js';

/** The model that an adapter is trained for. */
export interface TrainingModel {
  readonly config: DecoderConfig;
  /** Released when the session is closed. */
  readonly weights: WeightsInUse;
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
 * Each `step` and `evaluate` blocks the thread while it computes, also where another thread helps; cancelling is seen
 * between runs and, where memory asks for it, between layers.
 * @throws EngineError `invalid_request` or `adapter_invalid`, naming the field; `adapter_damaged` or `memory_exceeded`
 * of a parent; `cancelled` while what is spared is looked for.
 */
export async function openTrainingSession(
  model: TrainingModel,
  options: TrainingOptions | ResumeOptions,
  call: CallOptions = {},
): Promise<TrainingSession> {
  if ('resume' in options) return resumeTrainingSession(model, options, call);
  checkOptions(options);
  const room = { preparedBytes: trainedBytes(model.config) };
  const parent = options.parent === null ? null : await readAdapter(options.parent, model.config, room);
  const { rank, alpha, seed } = options;
  const matrices = parent === null ? freshMatrices(model.config, rank, seed) : copyMatrices(model.config, parent);
  const optimizer = new AdamW(matrices.values, {
    betas: options.betas ?? DEFAULT_BETAS,
    weightDecay: options.weightDecay ?? 0,
    clipNorm: options.clipNorm ?? Infinity,
  });
  const sparing = await sparingOf(model, options, matrices, call);
  if (parent === null) sparing?.clear();
  return new OnnxTrainingSession(
    model,
    parent ?? { rank, alpha },
    { matrices, optimizer, sparing, sparedHash: sparedHash(options) },
    maxActivationBytes(model, options),
  );
}

async function resumeTrainingSession(
  model: TrainingModel,
  options: ResumeOptions,
  call: CallOptions,
): Promise<TrainingSession> {
  const snapshot = await readSnapshot(options.resume, model.config, model.name);
  if (snapshot.spared !== sparedHash(options)) {
    throw new EngineError('invalid_request', 'spared must be the sequences that the training began with.');
  }
  const matrices = copyMatrices(model.config, snapshot.adapter);
  const optimizer = new AdamW(matrices.values, snapshot.options, snapshot.optimizer);
  const sparing = await sparingOf(model, options, matrices, call);
  return new OnnxTrainingSession(
    model,
    snapshot.adapter,
    { matrices, optimizer, sparing, sparedHash: snapshot.spared },
    maxActivationBytes(model, options),
  );
}

/** What a step changes, and how. */
interface Trained {
  readonly matrices: FlatMatrices;
  readonly optimizer: AdamW;
  readonly sparing: Sparing | null;
  readonly sparedHash: string | null;
}

async function sparingOf(
  model: TrainingModel,
  options: TrainingOptions | ResumeOptions,
  matrices: FlatMatrices,
  call: CallOptions,
): Promise<Sparing | null> {
  const { spared = [] } = options;
  const { config } = model;
  if (spared.length === 0) return null;
  for (const [index, { tokens }] of spared.entries()) {
    checkTokens(tokens, `spared[${index}].tokens`, config);
    if (tokens.length > config.contextLength) {
      const message = `spared[${index}] has ${tokens.length} tokens; the context length is ${config.contextLength}.`;
      throw new EngineError('context_length_exceeded', message);
    }
    if (passingBytes(config, tokens.length) > maxActivationBytes(model, options)) {
      const message = `spared[${index}] has ${tokens.length} tokens, which would pass the bound of maxActivationBytes.`;
      throw new EngineError('memory_exceeded', message);
    }
  }
  return new Sparing(config, matrices, await sparedDirections(model, spared, call));
}

/** `null` of none. */
function sparedHash({ spared = [] }: TrainingOptions | ResumeOptions): string | null {
  if (spared.length === 0) return null;
  return createHash('sha256')
    .update(JSON.stringify(spared.map(({ tokens }) => tokens)))
    .digest('hex');
}

class OnnxTrainingSession implements TrainingSession {
  private readonly gradients: BatchGradients;
  private readonly gate = new CallGate();

  constructor(
    private readonly model: TrainingModel,
    private readonly hyperparameters: LoraHyperparameters,
    private readonly trained: Trained,
    maxActivationBytes: number,
  ) {
    const { config, weights, threads } = model;
    const { matrices } = trained;
    const modules = loraModules(config, hyperparameters);
    this.gradients = new BatchGradients({
      config,
      format: weights.format,
      weights: weights.feeds,
      modules,
      matrices,
      threads,
      maxActivationBytes,
    });
  }

  step(batch: readonly TrainingExample[], learningRate: number, options: CallOptions = {}): Promise<StepResult> {
    return this.call(options, async (callOptions) => {
      if (!Number.isFinite(learningRate) || learningRate < 0) {
        throw new EngineError('invalid_request', 'learningRate must not be negative.');
      }
      const built = this.gradients.batchOf(batch);
      const loss = await this.gradients.lossAndGradient(built, callOptions);
      const { values } = this.gradients.sum;
      const gradientNorm = euclideanNorm(values);
      if (!Number.isFinite(loss) || !Number.isFinite(gradientNorm)) {
        throw new EngineError('internal', 'The loss or its gradient is not finite; the weights are unchanged.');
      }
      throwIfCancelled(callOptions);
      const { optimizer, sparing } = this.trained;
      const step = (): void => optimizer.step(values, gradientNorm, learningRate);
      if (sparing === null) step();
      else sparing.step(step);
      return { loss, tokens: built.tokens, gradientNorm };
    });
  }

  evaluate(batch: readonly TrainingExample[], options: CallOptions = {}): Promise<StepResult> {
    return this.call(options, async (callOptions) => {
      const built = this.gradients.batchOf(batch);
      return { loss: await this.gradients.loss(built, callOptions), tokens: built.tokens, gradientNorm: 0 };
    });
  }

  save(folder: string, precision?: AdapterPrecision): Promise<AdapterReference & { readonly sizeBytes: number }> {
    const { model, trained, hyperparameters } = this;
    return this.call({}, () =>
      writeAdapter(folder, toAdapter(trained.matrices, hyperparameters), model.name, precision),
    );
  }

  snapshot(folder: string): Promise<void> {
    return this.call({}, () => {
      const { state: optimizer, options } = this.trained.optimizer;
      const adapter = toAdapter(this.trained.matrices, this.hyperparameters);
      return writeSnapshot(folder, { adapter, optimizer, options, spared: this.trained.sparedHash }, this.model.name);
    });
  }

  /** A step under way rejects with `cancelled`, its weights unchanged; what is being written is written to its end. */
  async close(): Promise<void> {
    if (this.gate.closed) return;
    await this.gate.close();
    await this.gradients.close();
    this.model.weights.release();
  }

  private async call<T>(options: CallOptions, call: (options: CallOptions) => Promise<T>): Promise<T> {
    if (this.gate.closed) throw new EngineError('invalid_request', 'The training session is closed.');
    return this.gate.run(options, call);
  }
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

function maxActivationBytes({ weights }: TrainingModel, options: ResumeOptions | TrainingOptions): number {
  const { maxActivationBytes: bytes = defaultActivationBytes(weights.format) } = options;
  if (!(bytes >= 0)) throw new EngineError('invalid_request', 'maxActivationBytes must be at least 0.');
  return bytes;
}

function inRange(value: number, greatest: number): boolean {
  return value >= 0 && value <= greatest;
}
