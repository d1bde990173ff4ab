import type {
  AdapterPrecision,
  AdapterReference,
  ChatPrompt,
  GenerateRequest,
  GenerateResult,
  ModelDescription,
  ResumeOptions,
  ScoreRequest,
  SequenceScore,
  StepResult,
  TokenSequence,
  TrainingExample,
  TrainingOptions,
} from './types.js';

export interface CallOptions {
  /** Aborting it rejects with `EngineError` code `cancelled` at the next token, batch or step. */
  readonly signal?: AbortSignal;
}

export interface EncodeOptions {
  /**
   * True if the model itself wrote the completion. Then its markup (`<tool_call>`) becomes markup tokens. By default
   * markup is ordinary text.
   */
  readonly markup?: boolean;
}

/** One adapter under training. Calls must not overlap. */
export interface TrainingSession {
  /** Forward, backward and one AdamW update. */
  step(batch: readonly TrainingExample[], learningRate: number, options?: CallOptions): Promise<StepResult>;
  /** The loss of a batch under the present weights, which do not change. */
  evaluate(batch: readonly TrainingExample[], options?: CallOptions): Promise<StepResult>;
  /** Writes the present weights in PEFT's format into a new folder, synced to disk. By default in F32. */
  save(folder: string, precision?: AdapterPrecision): Promise<AdapterReference & { readonly sizeBytes: number }>;
  /**
   * Writes the present weights and the optimizer's state into a new folder. `openTraining` goes on from it with the
   * same numbers, to the last bit, as without the interruption.
   */
  snapshot(folder: string): Promise<void>;
  /** Running calls reject with `cancelled` or end before this resolves. */
  close(): Promise<void>;
}

/**
 * The calls that every backend offers. An engine knows models, tokens and adapters, but nothing of tenants, money or
 * HTTP. Concurrent `generate` calls are decoded together.
 */
export interface Engine {
  describe(): Promise<ModelDescription>;
  /** The exact length of the rendered prompt, in tokens. */
  countTokens(prompt: ChatPrompt): Promise<number>;
  /** The rendered prompt, followed by `completion` and the end-of-turn token, which are the targets. */
  encode(prompt: ChatPrompt, completion: string, options?: EncodeOptions): Promise<TokenSequence>;
  generate(request: GenerateRequest, options?: CallOptions): Promise<GenerateResult>;
  score(request: ScoreRequest, options?: CallOptions): Promise<readonly SequenceScore[]>;
  openTraining(options: TrainingOptions | ResumeOptions): Promise<TrainingSession>;
  /** Gives back the memory that is kept for reuse under this `GenerateRequest.isolationKey`. */
  forgetPrefixes(isolationKey: string): Promise<void>;
  close(): Promise<void>;
}

export type EngineErrorCode =
  /** The checkpoint folder is missing, damaged or unsupported. The message names the field. */
  | 'checkpoint_invalid'
  /** The adapter has the promised content but does not fit the model. The message names the field. */
  | 'adapter_invalid'
  /** A file of the adapter is missing or unreadable, or its content is not the promised one. */
  | 'adapter_damaged'
  /** The disk is full, or the user's quota is. Nothing half-written is left. */
  | 'storage_full'
  | 'context_length_exceeded'
  /** The call would not fit in the engine's memory bound even if it were alone. */
  | 'memory_exceeded'
  | 'invalid_request'
  | 'cancelled'
  /** The engine's process died. The host starts a new one, and the caller may repeat the call. */
  | 'process_lost'
  /**
   * The host had no process for the call and could not start one, so the call was never made. The host keeps trying.
   */
  | 'not_running'
  /**
   * A run that several calls shared has failed, and it is not known which caused it. The caller may repeat the call.
   */
  | 'batch_lost'
  /** An engine elsewhere took the call and gave no whole receipt: it may have done the work. Nobody may repeat it. */
  | 'receipt_missing'
  /** An engine elsewhere gave a receipt that contradicts itself or the call. */
  | 'receipt_inconsistent'
  | 'internal';

/** The only error that leaves this package. */
export class EngineError extends Error {
  constructor(
    readonly code: EngineErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'EngineError';
  }

  /** Whether the failure may have another cause than the call, so that repeating it at once may succeed. */
  get repeatable(): boolean {
    return this.code === 'process_lost' || this.code === 'batch_lost';
  }
}
