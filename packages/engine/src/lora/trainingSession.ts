/** One adapter under training on ONNX Runtime. */
import { readAdapter, writeAdapter } from '../adapters/adapterFolder.js';
import { loraModules, type LoraHyperparameters } from '../adapters/loraModules.js';
import { probeMetadata, probeSequences } from '../adapters/probe.js';
import { CallGate } from '../support/callGate.js';
import { EngineError, type CallOptions, type TrainingSession } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { loraGroups } from '../model/loraGroups.js';
import type { WeightsInUse } from '../model/sharedWeights.js';
import { matrixName } from '../model/weights.js';
import type {
  AdapterPrecision,
  AdapterProbe,
  AdapterReference,
  ResumeOptions,
  StepResult,
  TrainingExample,
  TrainingOptions,
} from '../types.js';
import { defaultActivationBytes, passingBytes } from './activations.js';
import { AdamW, euclideanNorm } from './adamW.js';
import { BatchGradients } from './batchGradients.js';
import { throwIfCancelled } from '../support/cancelling.js';
import type { FlatMatrices } from './parameters.js';
import { copyMatrices, freshMatrices, toAdapter, trainedBytes } from './parameters.js';
import { readSnapshot, writeSnapshot } from './snapshot.js';
import { findProtectedDirections } from './protectedDirections.js';
import {
  checkOptions,
  checkProtected,
  hashProtected,
  layersFrom,
  optimizerOptions,
  requireSameProtected,
} from './trainingOptions.js';
import { UpdateProjection } from './updateProjection.js';

/** The model that an adapter is trained for. */
export interface TrainingModel {
  readonly config: DecoderConfig;
  /** Released when the session is closed. */
  readonly weights: WeightsInUse;
  /** Identity of the model. It is written into saved adapters, and a snapshot resumes only with the same one. */
  readonly name: string | null;
  /** Threads of the computation, at least 1. */
  readonly threads: number;
}

/**
 * Starts from a fresh adapter, or from a copy of the parent's weights. A parent keeps its own modules, ranks and
 * scales, because its matrices mean something only at those.
 *
 * Each `step` and `evaluate` blocks the thread while it computes, even where another thread helps. A call can be
 * cancelled between runs and, when memory requires it, between layers.
 * @throws EngineError `invalid_request` or `adapter_invalid`, naming the field; `adapter_damaged` or `memory_exceeded`
 *   for a parent; `cancelled` while the protected directions are looked for.
 */
export async function openTrainingSession(
  model: TrainingModel,
  options: TrainingOptions | ResumeOptions,
  call: CallOptions = {},
): Promise<TrainingSession> {
  if ('resume' in options) return resumeTrainingSession(model, options, call);
  checkOptions(options, model.config);
  const readOptions = { preparedBytes: trainedBytes(model.config) };
  const parent = options.parent === null ? null : await readAdapter(options.parent, model.config, readOptions);
  const { rank, alpha, seed, firstLayer = 0 } = options;
  const { config } = model;
  const matrices = parent === null ? freshMatrices(config, rank, seed, firstLayer) : copyMatrices(config, parent);
  const optimizer = new AdamW(matrices.values, optimizerOptions(options));
  const projection = await openProjection(model, options, matrices, call);
  if (parent === null) projection?.clearDirections();
  return new OnnxTrainingSession(
    model,
    parent ?? { rank, alpha, ...layersFrom(firstLayer, config) },
    { matrices, optimizer, projection, protectedHash: hashProtected(options) },
    maxActivationBytes(model, options),
  );
}

async function resumeTrainingSession(
  model: TrainingModel,
  options: ResumeOptions,
  call: CallOptions,
): Promise<TrainingSession> {
  const snapshot = await readSnapshot(options.resume, model.config, model.name);
  const { protectedHash } = snapshot;
  requireSameProtected(protectedHash, options);
  const matrices = copyMatrices(model.config, snapshot.adapter);
  const optimizer = new AdamW(matrices.values, snapshot.options, snapshot.optimizer);
  const projection = await openProjection(model, options, matrices, call);
  const trained = { matrices, optimizer, projection, protectedHash };
  return new OnnxTrainingSession(model, snapshot.adapter, trained, maxActivationBytes(model, options));
}

/** The state that a step changes, and how it changes it. */
interface Trained {
  readonly matrices: FlatMatrices;
  readonly optimizer: AdamW;
  readonly projection: UpdateProjection | null;
  readonly protectedHash: string | null;
}

async function openProjection(
  model: TrainingModel,
  options: TrainingOptions | ResumeOptions,
  matrices: FlatMatrices,
  call: CallOptions,
): Promise<UpdateProjection | null> {
  const { protectedDirections: sequences = [] } = options;
  const { config } = model;
  if (sequences.length === 0) return null;
  checkProtected(sequences, config);
  for (const [index, { tokens }] of sequences.entries()) {
    const name = `protectedDirections[${index}]`;
    const [needed, maxBytes] = [passingBytes(config, tokens.length), maxActivationBytes(model, options)];
    if (needed > maxBytes) {
      const message = `${name} has ${tokens.length} tokens, which take ${needed} bytes: maxActivationBytes is ${maxBytes}`;
      throw new EngineError('memory_exceeded', message);
    }
  }
  // An adapter may leave the lower layers alone.
  const trained = loraGroups(config).filter(({ parts }) =>
    parts.some(({ name }) => matrices.matrices.has(matrixName(name, 'A'))),
  );
  return new UpdateProjection(config, matrices, await findProtectedDirections(model, sequences, trained, call));
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
        throw new EngineError('invalid_request', 'learningRate must be a number of at least 0');
      }
      const built = this.gradients.batchOf(batch);
      const loss = await this.gradients.lossAndGradient(built, callOptions);
      const { values } = this.gradients.sum;
      const gradientNorm = euclideanNorm(values);
      if (!Number.isFinite(loss) || !Number.isFinite(gradientNorm)) {
        throw new EngineError('internal', 'the loss or its gradient is not finite, so the weights were not changed');
      }
      throwIfCancelled(callOptions);
      const { optimizer, projection } = this.trained;
      const step = (): void => optimizer.step(values, gradientNorm, learningRate);
      if (projection === null) step();
      else projection.step(step);
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
    return this.call({}, async () => {
      const metadata = probeMetadata(await this.probe());
      return writeAdapter(folder, toAdapter(trained.matrices, hyperparameters), model.name, precision, metadata);
    });
  }

  /** The losses under the present weights of the sequences by which these will be known; `null` if one is no number. */
  private async probe(): Promise<AdapterProbe | null> {
    const sequences = probeSequences(this.model.config);
    const losses: number[] = [];
    for (const sequence of sequences) {
      losses.push(await this.gradients.loss(this.gradients.batchOf([{ sequence, weight: 1 }]), {}));
    }
    return losses.every(Number.isFinite) ? { sequences: sequences.map(({ tokens }) => tokens), losses } : null;
  }

  snapshot(folder: string): Promise<void> {
    return this.call({}, () => {
      const { matrices, protectedHash } = this.trained;
      const { state: optimizer, options } = this.trained.optimizer;
      const adapter = toAdapter(matrices, this.hyperparameters);
      return writeSnapshot(folder, { adapter, optimizer, options, protectedHash }, this.model.name);
    });
  }

  /** A running step rejects with `cancelled` and leaves its weights unchanged. A write runs to its end. */
  async close(): Promise<void> {
    if (this.gate.closed) return;
    await this.gate.close();
    await this.gradients.close();
    this.model.weights.release();
  }

  private async call<T>(options: CallOptions, call: (options: CallOptions) => Promise<T>): Promise<T> {
    if (this.gate.closed) throw new EngineError('invalid_request', 'the training session is closed');
    return this.gate.run(options, call);
  }
}

function maxActivationBytes({ weights }: TrainingModel, options: ResumeOptions | TrainingOptions): number {
  const { maxActivationBytes: bytes = defaultActivationBytes(weights.format) } = options;
  if (!(bytes >= 0))
    throw new EngineError('invalid_request', 'maxActivationBytes must be a number of bytes of at least 0');
  return bytes;
}
