import { availableParallelism } from 'node:os';
import { randomInt } from 'node:crypto';
import { openCheckpoint, type Checkpoint } from './checkpoint/checkpoint.js';
import { maxContextLengthDefault } from './checkpoint/contextLength.js';
import { EngineError, type CallOptions, type EncodeOptions, type Engine, type TrainingSession } from './engine.js';
import { CallGate } from './callGate.js';
import { AdapterCache } from './generation/adapterCache.js';
import { AdapterLoader } from './generation/adapterLoader.js';
import { AdapterUse } from './generation/adapterUse.js';
import { bannedTokens, tokenlessIds } from './generation/bannedTokens.js';
import { checkRequest } from './generation/checkRequest.js';
import { Generator } from './generation/generator.js';
import type { LoadedModel } from './generation/inferenceRunner.js';
import { defaultLimits } from './generation/kvBudget.js';
import { composeReply, forcedText, singleCallEnd } from './generation/reply.js';
import { DEFAULT_SCORE_LIMITS } from './generation/scoreLimits.js';
import { Scorer } from './generation/scorer.js';
import { openTrainingSession } from './lora/trainingSession.js';
import { openedBytes } from './model/openedBytes.js';
import { WEIGHT_FORMATS, type WeightFormat } from './model/quantization.js';
import { loadQuantizedWeights } from './model/quantizedWeights.js';
import { SharedWeights } from './model/sharedWeights.js';
import { createRandom } from './random.js';
import { isStorageFull } from './storageFull.js';
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
  /** Threads of the computations; by default the number of cores, at most 4. */
  readonly threads?: number;
  /** Bound on the model's own context length, in tokens; by default 16,384. */
  readonly maxContextLength?: number;
  /** Requests decoded together at most; by default 8. */
  readonly maxBatch?: number;
  /**
   * Bound on the keys and values of the requests in the works, in bytes; requests wait until there is room. By default
   * 2 GiB, or as much as one request that fills the context takes.
   */
  readonly maxCacheBytes?: number;
  /**
   * How the matrices are kept: `f32` (the default), or blocks of 8 or 4 bits, which are smaller, answer faster and a
   * little otherwise, and are float32 for the moment in which training and scoring multiply with them.
   */
  readonly weightFormat?: WeightFormat;
  /**
   * Where quantised matrices are kept for the next start; without it they are made at every start, and stay in memory.
   */
  readonly cacheFolder?: string;
  /**
   * Bound on the memory that scoring takes beside the weights, by estimate, in bytes; a sequence that would take more
   * is refused with `memory_exceeded`. By default a quarter of the machine's memory, at least 4 GiB.
   */
  readonly maxScoreBytes?: number;
  /** Bound on the keys and values kept for reuse, in bytes; by default 256 MiB, 0 keeps none. */
  readonly maxPrefixBytes?: number;
  /**
   * Bound on the memory of the adapters that are kept ready and of a batch's copies of them; requests wait until there
   * is room, and load theirs in the order of their arrival. One adapter is used whatever its size, and what requests
   * hold that have come to their turn is kept besides, and up to a sixteenth more, into which the next adapters are
   * read. By default 512 MiB.
   */
  readonly maxAdapterBytes?: number;
}

const COUNTS = ['threads', 'maxContextLength', 'maxBatch'] as const;
const BYTE_BOUNDS = ['maxCacheBytes', 'maxScoreBytes', 'maxPrefixBytes', 'maxAdapterBytes'] as const;

const DEFAULT_MAX_BATCH = 8;
const DEFAULT_MAX_ADAPTER_BYTES = 512 * 2 ** 20;

/**
 * The engine in the calling process. ONNX Runtime computes on the calling thread, so two runs never overlap there (the
 * half of a training step that a `GradientHelper` computes may), and it yields to the event loop before each of them:
 * generation steps, scoring batches and training runs that are under way at the same time take turns one run at a time,
 * without a queue of our own. The thread is blocked during a run; a server keeps the engine in a process of its own,
 * see `startEngineHost`.
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
    const maxAdapterBytes = options.maxAdapterBytes ?? DEFAULT_MAX_ADAPTER_BYTES;
    this.adapters = new AdapterCache(maxAdapterBytes, (...call) => this.loader.load(...call));
    const limits = {
      cacheBytes: options.maxCacheBytes ?? defaults.cacheBytes,
      prefixBytes: options.maxPrefixBytes ?? defaults.prefixBytes,
    };
    this.generator = new Generator(model, options.maxBatch ?? DEFAULT_MAX_BATCH, limits, this.adapters);
    const runBytes = options.maxScoreBytes ?? DEFAULT_SCORE_LIMITS.runBytes;
    this.scorer = new Scorer(model, { ...DEFAULT_SCORE_LIMITS, runBytes });
    this.tokenless = tokenlessIds(checkpoint.tokenizer, model.config.vocabularySize);
  }

  /**
   * Loads a model; rejects with `checkpoint_invalid`, or `invalid_request` naming an option.
   * @param purpose an engine that only trains asks for the memory of the weights when a session is opened.
   */
  static open(options: EmbeddedEngineOptions, purpose: 'serving' | 'training' = 'serving'): Promise<EmbeddedEngine> {
    return contained(() => EmbeddedEngine.load(options, purpose === 'serving'));
  }

  private static async load(options: EmbeddedEngineOptions, serves: boolean): Promise<EmbeddedEngine> {
    checkOptions(options);
    const format = options.weightFormat ?? 'f32';
    const checkpoint = await openCheckpoint(options.modelDir, (config) =>
      openedBytes(config, serves ? format : null, options.cacheFolder !== undefined),
    );
    const maxContextLength = options.maxContextLength ?? maxContextLengthDefault;
    const contextLength = Math.min(checkpoint.config.contextLength, maxContextLength);
    const config = { ...checkpoint.config, contextLength };
    const threads = options.threads ?? Math.min(4, availableParallelism());
    const { weights: reader, description } = checkpoint;
    const source = { config, reader, contentHash: description.contentHash };
    const quantized = format === 'f32' ? undefined : await loadQuantizedWeights(source, format, options.cacheFolder);
    const weights = await SharedWeights.open(config, reader, { quantized });
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
    return contained(async () => {
      throwIfAborted(options);
      const use = this.use(request.adapter);
      try {
        const adapter = use && (await unlessAborted(use.load(), options));
        return await this.scorer.score(request.sequences, adapter, request.topK, options.signal);
      } finally {
        use?.release();
      }
    });
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

  async close(): Promise<void> {
    await this.openings.close();
    // First, so that nobody waits for a disk that does not answer.
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
    throwIfAborted(call);
    this.trainings.add(session);
    return session;
  }

  private async runGeneration(request: GenerateRequest, options: CallOptions): Promise<GenerateResult> {
    checkRequest(request);
    throwIfAborted(options);
    const { tokenizer } = this.checkpoint;
    const prompt = tokenizer.encodePrompt(request.prompt);
    const room = this.model.config.contextLength - prompt.length;
    if (prompt.length === 0) throw new EngineError('invalid_request', 'the rendered prompt is empty');
    if (room < 1) {
      const message = `the prompt has ${prompt.length} tokens and leaves no room in a context of ${this.model.config.contextLength}`;
      throw new EngineError('context_length_exceeded', message);
    }
    const isComplete = singleCallEnd(tokenizer, request);
    const generation = await this.generator.generate({
      prompt,
      forced: tokenizer.encodeOpening(request.prompt, forcedText(tokenizer, request)),
      maxOutputTokens: Math.min(request.maxOutputTokens, room),
      stopTokens: tokenizer.stopTokens,
      banned: [...this.tokenless, ...bannedTokens(tokenizer, request)],
      ...(isComplete === undefined ? {} : { isComplete }),
      temperature: request.temperature,
      ...(request.minP === undefined ? {} : { minP: request.minP }),
      ...(request.wantsLogprob === true ? { wantsLogprob: true } : {}),
      random: createRandom(request.seed ?? randomInt(2 ** 47)),
      adapter: this.use(request.adapter),
      ...(request.isolationKey === undefined ? {} : { isolationKey: request.isolationKey }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    return composeReply(tokenizer, request, prompt.length, generation);
  }

  private use(reference: AdapterReference | null): AdapterUse | null {
    return reference === null ? null : new AdapterUse(this.adapters, reference);
  }
}

function checkOptions(options: EmbeddedEngineOptions): void {
  const isCount = (value: number | undefined): boolean =>
    value === undefined || (Number.isSafeInteger(value) && value >= 1);
  const isBound = (value: number | undefined): boolean => value === undefined || value >= 0;
  const requirements: readonly (readonly [keyof EmbeddedEngineOptions, boolean, string])[] = [
    ...COUNTS.map((name) => [name, isCount(options[name]), 'a whole number of at least 1'] as const),
    ...BYTE_BOUNDS.map((name) => [name, isBound(options[name]), 'a number of bytes of at least 0'] as const),
    ['weightFormat', WEIGHT_FORMATS.includes(options.weightFormat ?? 'f32'), `one of ${WEIGHT_FORMATS.join(', ')}`],
  ];
  for (const [field, holds, wish] of requirements) {
    if (!holds) throw new EngineError('invalid_request', `${field} must be ${wish}`);
  }
}

function throwIfAborted({ signal }: CallOptions): void {
  if (signal?.aborted === true) throw new EngineError('cancelled', 'the call was cancelled');
}

/** Like the promise, but rejects as soon as the call is cancelled, whatever becomes of the promise. */
async function unlessAborted<T>(promise: Promise<T>, { signal }: CallOptions): Promise<T> {
  // Each call gets its own signal: the caller may give one signal to many calls, and would be warned of so many
  // listeners.
  const own = signal && AbortSignal.any([signal]);
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new EngineError('cancelled', 'the call was cancelled'));
    own?.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    own?.removeEventListener('abort', stop);
  }
}

/** Runs a computation so that nothing but an `EngineError` comes out of it. */
async function contained<T>(compute: () => T | Promise<T>): Promise<T> {
  try {
    return await compute();
  } catch (error) {
    if (error instanceof EngineError) throw error;
    if (isStorageFull(error)) throw new EngineError('storage_full', 'there is no room on a disk', { cause: error });
    throw new EngineError('internal', 'the engine failed unexpectedly', { cause: error });
  }
}
