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
  /** Aborting rejects with `EngineError` code `cancelled` at the next token, batch or step. */
  readonly signal?: AbortSignal;
}

export interface EncodeOptions {
  /**
   * Whether the completion is the model's own writing, in which its markup (`<tool_call>`) becomes markup tokens. By
   * default it is a text like any other, which may speak of markup.
   */
  readonly markup?: boolean;
}

/** One adapter under training. Calls are made one at a time. */
export interface TrainingSession {
  /** Forward, backward and one AdamW update. */
  step(batch: readonly TrainingExample[], learningRate: number, options?: CallOptions): Promise<StepResult>;
  /** The loss of a batch under the present weights, without changing them. */
  evaluate(batch: readonly TrainingExample[], options?: CallOptions): Promise<StepResult>;
  /** Writes the present weights in PEFT's format into a new folder, synced to disk; by default in F32. */
  save(folder: string, precision?: AdapterPrecision): Promise<AdapterReference & { readonly sizeBytes: number }>;
  /**
   * Writes the present weights and the optimizer's state into a new folder, from which `openTraining` goes on: the
   * steps that follow give the same numbers, to the last bit, as without the interruption.
   */
  snapshot(folder: string): Promise<void>;
  /** Calls under way reject with `cancelled`, or end before it resolves. */
  close(): Promise<void>;
}

/**
 * What every backend offers. The engine knows models, tokens and adapters, and nothing of
 * tenants, money or HTTP. Concurrent `generate` calls are decoded together.
 */
export interface Engine {
  describe(): Promise<ModelDescription>;
  /** The exact length of the rendered prompt, in tokens. */
  countTokens(prompt: ChatPrompt): Promise<number>;
  /**
   * The rendered prompt followed by `completion` and the end-of-turn token; the targets are the completion and that
   * token.
   */
  encode(prompt: ChatPrompt, completion: string, options?: EncodeOptions): Promise<TokenSequence>;
  generate(request: GenerateRequest, options?: CallOptions): Promise<GenerateResult>;
  score(request: ScoreRequest, options?: CallOptions): Promise<readonly SequenceScore[]>;
  openTraining(options: TrainingOptions | ResumeOptions): Promise<TrainingSession>;
  close(): Promise<void>;
}

export type EngineErrorCode =
  /** The checkpoint folder is missing, damaged or of an unsupported kind; the message names the field. */
  | 'checkpoint_invalid'
  /** The adapter, whose content is the promised one, does not fit the model; the message names the field. */
  | 'adapter_invalid'
  /** A file of the adapter is missing or cannot be read off its disk, or its content is not the promised one. */
  | 'adapter_damaged'
  /**
   * The disk has no room for what was to be written, or its user may have no more of it; nothing half-written is left.
   */
  | 'storage_full'
  | 'context_length_exceeded'
  /** The call would not fit in the engine's memory bound even if it were alone. */
  | 'memory_exceeded'
  | 'invalid_request'
  | 'cancelled'
  /** The engine's process died; the host starts a new one and the caller may repeat the call. */
  | 'process_lost'
  /**
   * The host has no process for the call, and could not start one: it was never made. The host goes on trying to serve.
   */
  | 'not_running'
  /**
   * A run failed that the call shared with others; whose fault it was is not known, and the caller may repeat the call.
   */
  | 'batch_lost'
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

  /** Whether the failure need not be the call's own, so that the same call may succeed when it is repeated at once. */
  get repeatable(): boolean {
    return this.code === 'process_lost' || this.code === 'batch_lost';
  }
}
