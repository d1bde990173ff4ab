import { availableParallelism } from 'node:os';
import { randomInt } from 'node:crypto';
import { openCheckpoint, type Checkpoint } from './checkpoint/checkpoint.js';
import { defaultMaxContextLength } from './checkpoint/contextLength.js';
import { EngineError, type CallOptions, type EncodeOptions, type Engine, type TrainingSession } from './engine.js';
import { CallGate } from './support/callGate.js';
import { AdapterCache } from './adapters/adapterCache.js';
import { AdapterLoader } from './adapters/adapterLoader.js';
import type { LoadedAdapter } from './adapters/loadedAdapter.js';
import { tokenlessIds } from './output/bannedTokens.js';
import { prepareGeneration } from './scheduling/preparedGeneration.js';
import { Generator } from './scheduling/generator.js';
import type { LoadedModel } from './inference/modelRunner.js';
import { defaultLimits } from './cache/kvBudget.js';
import { composeReply, singleCallEnd } from './output/reply.js';
import { defaultScoreLimits } from './scoring/scoreLimits.js';
import { Scorer } from './scoring/scorer.js';
import { openTrainingSession } from './lora/trainingSession.js';
import { residentBytes } from './model/residentBytes.js';
import { weightFormats, type WeightFormat } from './model/quantization.js';
import { loadQuantizedWeights } from './model/quantizedWeights.js';
import { trainsInIntegers } from './lora/integerTraining.js';
import { SharedWeights } from './model/sharedWeights.js';
import { collectGarbage } from './support/collectGarbage.js';
import { throwIfCancelled, unlessCancelled } from './support/cancelling.js';
import { createRandom } from './support/random.js';
import { isStorageFull } from './support/storageFull.js';
import type {
  AdapterReference,
  ChatPrompt,
  GenerateRequest,
  GenerateResult,
  ModelDescription,
  ResumeOptions,
  ScoreRequest,
  SequenceScore,
  TokenSequence,
  TrainingOptions,
} from './types.js';

export interface EmbeddedEngineOptions {
  /** A Hugging Face checkpoint folder. */
  readonly modelDir: string;
  /** Threads of the computation. By default the number of cores, at most 4. */
  readonly threads?: number;
  /** Bound on the model's context length, in tokens. By default 16,384. */
  readonly maxContextLength?: number;
  /** Bound on the number of requests that are decoded together. By default 8. */
  readonly maxBatch?: number;
  /**
   * Bound on the keys and values of requests that have begun, in bytes. Requests wait until there is memory. By default
   * 2 GiB, or as much as one request takes that fills the context.
   */
  readonly maxCacheBytes?: number;
  /**
   * How matrices are kept: `f32` (the default) or blocks of 8 or 4 bits. Blocks are smaller and answer faster, with
   * slightly different numbers. Training and scoring turn them into float32 while they multiply with them.
   */
  readonly weightFormat?: WeightFormat;
  /**
   * Where quantised matrices are kept for the next start. Without it they are made at every start and stay in memory.
   */
  readonly cacheFolder?: string;
  /**
   * Bound on the estimated memory that scoring takes besides the weights, in bytes. A sequence that would take more is
   * refused with `memory_exceeded`. By default a quarter of the machine's memory, at least 4 GiB.
   */
  readonly maxScoreBytes?: number;
  /** Bound on the keys and values kept for reuse, in bytes. By default 256 MiB; 0 keeps none. */
  readonly maxPrefixBytes?: number;
  /**
   * Bound on the memory of loaded adapters and of a batch's copies of them, in bytes. By default 512 MiB. Requests wait
   * until there is memory, and load their adapters in the order of arrival. A single adapter is used whatever its size.
   * Adapters of requests that have begun are kept beyond the bound, and up to a sixteenth more holds memory for the
   * next ones.
   */
  readonly maxAdapterBytes?: number;
}

const countOptions = ['threads', 'maxContextLength', 'maxBatch'] as const;
const byteOptions = ['maxCacheBytes', 'maxScoreBytes', 'maxPrefixBytes', 'maxAdapterBytes'] as const;

const defaultMaxBatch = 8;
const defaultMaxAdapterBytes = 512 * 2 ** 20;

/**
 * The engine in the calling process. ONNX Runtime computes on the calling thread, so no two runs overlap, except for
 * the half of a training step that a `GradientHelper` computes. Before each run the engine yields to the event loop. So
 * generation steps, scoring batches and training runs take turns without a queue. The thread is blocked during a run. A
 * server keeps the engine in a process of its own, see `startEngineHost`.
 */
export class EmbeddedEngine implements Engine {
  private readonly adapters: AdapterCache;
  private readonly loader: AdapterLoader;
  private readonly generator: Generator;
  private readonly scorer: Scorer;
  private readonly tokenless: readonly number[];
  private readonly trainings = new Set<TrainingSession>();
  private readonly openings = new CallGate();

  private constructor(
    private readonly checkpoint: Checkpoint,
    private readonly model: LoadedModel,
    options: EmbeddedEngineOptions,
  ) {
    const defaults = defaultLimits(model.config);
    this.loader = new AdapterLoader(model.config);
    const maxAdapterBytes = options.maxAdapterBytes ?? defaultMaxAdapterBytes;
    this.adapters = new AdapterCache(maxAdapterBytes, (...call) => this.loader.load(...call));
    this.generator = new Generator(model, this.adapters, options.maxBatch ?? defaultMaxBatch, {
      maxCacheBytes: options.maxCacheBytes ?? defaults.maxCacheBytes,
      maxPrefixBytes: options.maxPrefixBytes ?? defaults.maxPrefixBytes,
    });
    const maxRunBytes = options.maxScoreBytes ?? defaultScoreLimits.maxRunBytes;
    this.scorer = new Scorer(model, { ...defaultScoreLimits, maxRunBytes });
    this.tokenless = tokenlessIds(checkpoint.tokenizer, model.config.vocabularySize);
  }

  /**
   * Loads a model. Rejects with `checkpoint_invalid`, or with `invalid_request` naming an option.
   * @param purpose an engine that only trains allocates the weights when a session is opened.
   */
  static open(options: EmbeddedEngineOptions, purpose: 'serving' | 'training' = 'serving'): Promise<EmbeddedEngine> {
    return contained(() => EmbeddedEngine.load(options, purpose === 'serving'));
  }

  private static async load(options: EmbeddedEngineOptions, serves: boolean): Promise<EmbeddedEngine> {
    checkOptions(options);
    const format = options.weightFormat ?? 'f32';
    const checkpoint = await openCheckpoint(options.modelDir, (config) =>
      residentBytes(config, serves ? format : null, options.cacheFolder !== undefined),
    );
    const maxContextLength = options.maxContextLength ?? defaultMaxContextLength;
    const contextLength = Math.min(checkpoint.config.contextLength, maxContextLength);
    const config = { ...checkpoint.config, contextLength };
    const threads = options.threads ?? Math.min(4, availableParallelism());
    const { weights: reader, description } = checkpoint;
    const source = { config, reader, contentHash: description.contentHash };
    const quantized = format === 'f32' ? undefined : await loadQuantizedWeights(source, format, options.cacheFolder);
    const inIntegers = !serves && trainsInIntegers(config);
    const weights = await SharedWeights.open(config, reader, { quantized, inIntegers });
    return new EmbeddedEngine(checkpoint, { config, weights, threads, quantized }, options);
  }

  describe(): Promise<ModelDescription> {
    return Promise.resolve({ ...this.checkpoint.description, contextLength: this.model.config.contextLength });
  }

  countTokens(prompt: ChatPrompt): Promise<number> {
    return contained(() => this.checkpoint.tokenizer.countTokens(prompt));
  }

  encode(prompt: ChatPrompt, completion: string, options?: EncodeOptions): Promise<TokenSequence> {
    return contained(() => this.checkpoint.tokenizer.encodeExample(prompt, completion, options));
  }

  generate(request: GenerateRequest, options: CallOptions = {}): Promise<GenerateResult> {
    return contained(() => this.runGeneration(request, options));
  }

  score(request: ScoreRequest, options: CallOptions = {}): Promise<readonly SequenceScore[]> {
    return contained(() =>
      this.withAdapter(request.adapter, options, (adapter) =>
        this.scorer.score(request.sequences, adapter, request.topK, options.signal),
      ),
    );
  }

  openTraining(options: TrainingOptions | ResumeOptions): Promise<TrainingSession> {
    return contained(async () => {
      const session = await this.openings.run({}, (call) => this.openSession(options, call));
      return {
        step: (...call) => contained(() => session.step(...call)),
        evaluate: (...call) => contained(() => session.evaluate(...call)),
        save: (...call) => contained(() => session.save(...call)),
        snapshot: (folder) => contained(() => session.snapshot(folder)),
        close: () => {
          this.trainings.delete(session);
          return contained(() => session.close());
        },
      };
    });
  }

  forgetPrefixes(isolationKey: string): Promise<void> {
    this.generator.prefixes.forget(isolationKey);
    collectGarbage();
    return Promise.resolve();
  }

  /** Gives back the weights of scoring at once if nobody uses them. */
  forgetUnusedWeights(): Promise<void> {
    return this.model.weights.forgetUnused();
  }

  async close(): Promise<void> {
    await this.openings.close();
    // The loader goes first, so that nobody waits for a disk that does not answer.
    await this.loader.close();
    await this.generator.close();
    await this.scorer.close();
    for (const session of this.trainings) await session.close();
    this.trainings.clear();
  }

  private async openSession(options: TrainingOptions | ResumeOptions, call: CallOptions): Promise<TrainingSession> {
    const { config, threads } = this.model;
    const weights = await this.model.weights.use();
    let session: TrainingSession;
    try {
      const name = this.checkpoint.description.contentHash;
      session = await openTrainingSession({ config, threads, weights, name }, options, call);
    } catch (error) {
      weights.release();
      throw error;
    }
    if (call.signal?.aborted === true) await session.close();
    throwIfCancelled(call);
    this.trainings.add(session);
    return session;
  }

  private async runGeneration(request: GenerateRequest, options: CallOptions): Promise<GenerateResult> {
    const { tokenizer } = this.checkpoint;
    const { tokenless } = this;
    const { contextLength } = this.model.config;
    throwIfCancelled(options);
    const prepared = prepareGeneration({ tokenizer, contextLength, tokenless }, request);
    const isComplete = singleCallEnd(tokenizer, request);
    const generation = await this.generator.generate({
      ...prepared,
      ...(isComplete === undefined ? {} : { isComplete }),
      temperature: request.temperature,
      ...(request.minP === undefined ? {} : { minP: request.minP }),
      ...(request.wantsLogprob === true ? { wantsLogprob: true } : {}),
      random: createRandom(request.seed ?? randomInt(2 ** 47)),
      adapter: request.adapter,
      ...(request.isolationKey === undefined ? {} : { isolationKey: request.isolationKey }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    return composeReply(tokenizer, request, prepared.prompt.length, generation);
  }

  /** Holds an adapter while `use` runs. A cancelled caller does not wait for the load, which goes on. */
  private async withAdapter<T>(
    reference: AdapterReference | null,
    options: CallOptions,
    use: (adapter: LoadedAdapter | null) => Promise<T>,
  ): Promise<T> {
    throwIfCancelled(options);
    if (reference === null) return use(null);
    const loading = this.adapters.hold(reference);
    try {
      return await use(await unlessCancelled(loading, options));
    } finally {
      // The caller has the error of a load that failed.
      void loading.then(
        (adapter) => this.adapters.release(adapter),
        () => undefined,
      );
    }
  }
}

function checkOptions(options: EmbeddedEngineOptions): void {
  const isCount = (value: number | undefined): boolean =>
    value === undefined || (Number.isSafeInteger(value) && value >= 1);
  const isBound = (value: number | undefined): boolean => value === undefined || value >= 0;
  const requirements: readonly (readonly [keyof EmbeddedEngineOptions, boolean, string])[] = [
    ...countOptions.map((name) => [name, isCount(options[name]), 'a whole number of at least 1'] as const),
    ...byteOptions.map((name) => [name, isBound(options[name]), 'a number of bytes of at least 0'] as const),
    ['weightFormat', weightFormats.includes(options.weightFormat ?? 'f32'), `one of ${weightFormats.join(', ')}`],
  ];
  for (const [field, holds, wish] of requirements) {
    if (!holds) throw new EngineError('invalid_request', `${field} must be ${wish}`);
  }
}

/** Runs a computation and turns every error that is no `EngineError` into one. */
async function contained<T>(compute: () => T | Promise<T>): Promise<T> {
  try {
    return await compute();
  } catch (error) {
    if (error instanceof EngineError) throw error;
    if (isStorageFull(error)) throw new EngineError('storage_full', 'a disk or a quota is full', { cause: error });
    throw new EngineError('internal', 'the engine failed unexpectedly', { cause: error });
  }
}
