import { ThreadCalls } from '../support/threadCalls.js';
import type { EncodeOptions } from '../engine.js';
import type { PreparedGeneration } from '../scheduling/preparedGeneration.js';
import type {
  AdapterProbe,
  AdapterReference,
  ChatPrompt,
  GenerateRequest,
  GenerateResult,
  ModelDescription,
  ResumeOptions,
  TokenSequence,
  TrainingExample,
  TrainingOptions,
} from '../types.js';
import type {
  PlainBatch,
  ReachedState,
  RunBounds,
  SaveTarget,
  TrainedAdapter,
  TrainingSettings,
  TrainingStart,
} from '../lora/trainingElsewhere.js';
import type { FrontCall, FrontMethods, WrittenTokens } from './frontMethods.js';

/**
 * All that an engine does but compute: requests become tokens, tokens become replies, adapters are checked. For engines
 * that compute elsewhere. It reads a checkpoint's files, its weights only to hash them, and works in a thread of its
 * own, because a long prompt takes a fifth of a second. Keeps no process alive.
 */
export class ModelFront {
  private readonly calls: ThreadCalls<FrontCall, unknown>;

  private constructor(modelDir: string) {
    this.calls = new ThreadCalls(new URL('./frontThread.js', import.meta.url), "the model's front", modelDir);
  }

  /** @throws EngineError `checkpoint_invalid` */
  static async open(modelDir: string): Promise<ModelFront> {
    const front = new ModelFront(modelDir);
    await front.describe();
    return front;
  }

  describe(): Promise<ModelDescription> {
    return this.call('describe');
  }

  countTokens(prompt: ChatPrompt): Promise<number> {
    return this.call('countTokens', prompt);
  }

  encode(prompt: ChatPrompt, completion: string, options?: EncodeOptions): Promise<TokenSequence> {
    return this.call('encode', prompt, completion, options);
  }

  /** @throws EngineError `invalid_request` or `context_length_exceeded` */
  prepare(request: GenerateRequest): Promise<PreparedGeneration> {
    return this.call('prepare', request);
  }

  /** The caller's result. Tokens after the end of a single call are left out. */
  compose(request: GenerateRequest, promptTokens: number, written: WrittenTokens): Promise<GenerateResult> {
    return this.call('compose', request, promptTokens, written);
  }

  /** Sequences by which a model or an adapter is known. */
  probeSequences(): Promise<readonly TokenSequence[]> {
    return this.call('probeSequences');
  }

  /**
   * Checks every key, shape and number of an adapter, and its content against its hash. Gives the probe that it was
   * saved with.
   * @throws EngineError as `Engine.generate` does for an adapter.
   */
  checkAdapter(reference: AdapterReference): Promise<AdapterProbe | null> {
    return this.call('checkAdapter', reference);
  }

  /** @throws EngineError as `openTraining`, as far as nothing is computed. */
  beginTraining(options: TrainingOptions | ResumeOptions): Promise<TrainingStart> {
    return this.call('beginTraining', options);
  }

  /** @throws EngineError as `TrainingSession.step`, about the examples. */
  layOutBatch(examples: readonly TrainingExample[], bounds: RunBounds): Promise<PlainBatch> {
    return this.call('layOutBatch', examples, bounds);
  }

  /** @throws EngineError as `TrainingSession.save`; `adapter_invalid` if what was trained does not fit. */
  saveTraining(
    target: SaveTarget,
    trained: TrainedAdapter,
  ): Promise<AdapterReference & { readonly sizeBytes: number }> {
    return this.call('saveTraining', target, trained);
  }

  /** @throws EngineError as `TrainingSession.snapshot`; `adapter_invalid` if what was trained does not fit. */
  snapshotTraining(folder: string, settings: TrainingSettings, reached: ReachedState): Promise<void> {
    return this.call('snapshotTraining', folder, settings, reached);
  }

  close(): Promise<void> {
    return this.calls.close();
  }

  private async call<M extends keyof FrontMethods>(
    method: M,
    ...args: Parameters<FrontMethods[M]>
  ): Promise<ReturnType<FrontMethods[M]>> {
    // Both ends are of the same build, so each method is answered with its own result.
    return (await this.calls.call({ method, args } as FrontCall)) as ReturnType<FrontMethods[M]>;
  }
}
