/**
 * The vocabulary of the engine: messages, prompts, requests and results.
 * Everything here is plain data, so that it crosses a process boundary unchanged.
 */

/** A function call that the model made, or that a caller replays in the conversation. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The text of a JSON object. */
  readonly arguments: string;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  /** A JSON Schema object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  /**
   * Whether the model's markup (`<tool_call>`) in the content becomes markup tokens. By default it does where the
   * assistant or the application wrote it, in the messages of the assistant and of the system.
   */
  readonly markup?: boolean;
  readonly name?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolCallId?: string;
}

/** A conversation as the chat template renders it, ending where the assistant is to speak. */
export interface ChatPrompt {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
  /**
   * Whether a model that can think before it answers does (`enable_thinking` of its template); when absent, as its
   * template has it.
   */
  readonly thinking?: boolean;
}

/** A saved adapter: a folder in PEFT's format, and the hash its content must have. */
export interface AdapterReference {
  readonly folder: string;
  /** `sha256:<hex>` over the adapter's files, see `adapters/contentHash.ts`. */
  readonly contentHash: string;
}

/**
 * How a saved adapter keeps its numbers: as they are, or rounded to half the size. It is computed with in F32 either
 * way.
 */
export type AdapterPrecision = 'F32' | 'F16';

export type ToolChoice =
  | { readonly kind: 'auto' }
  | { readonly kind: 'none' }
  | { readonly kind: 'required' }
  | { readonly kind: 'function'; readonly name: string };

export interface GenerateRequest {
  readonly prompt: ChatPrompt;
  readonly adapter: AdapterReference | null;
  readonly maxOutputTokens: number;
  /** 0 is greedy. */
  readonly temperature: number;
  /**
   * At a temperature above 0, tokens less likely than this share of the most likely one are never drawn (min-p,
   * arXiv:2407.01082); between 0 and 1, by default 0.
   */
  readonly minP?: number;
  /** Whether the result is to tell how likely the output was. */
  readonly wantsLogprob?: boolean;
  /** Seed of the sampler; the same request with the same seed gives the same tokens. */
  readonly seed?: number;
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  /**
   * Requests with the same key and the same adapter, or none, reuse each other's attention state where their prompts
   * begin alike; the answer does not depend on it. Without a key nothing is kept and nothing reused.
   */
  readonly isolationKey?: string;
}

export interface GenerateUsage {
  readonly inputTokens: number;
  /** Includes reasoning and the end-of-turn token when the model wrote one. */
  readonly outputTokens: number;
  /** Prompt tokens whose attention state was really reused; never more than `inputTokens`. */
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
}

export interface GenerateResult {
  readonly text: string;
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly toolCalls: readonly ToolCall[];
  /** Set when the model's tool-call text could not be read as a call of an offered function. */
  readonly invalidToolCall?: string;
  /**
   * Log-probability of the whole output, end of turn included, in nats at a temperature of 1; set when the request
   * asked for it. Tokens that were forced count as certain.
   */
  readonly logprob?: number;
  readonly usage: GenerateUsage;
}

/** A token sequence and, for every token from `targetStart` on, the wish that the model predicts it. */
export interface TokenSequence {
  readonly tokens: readonly number[];
  /** Index of the first token that is a target; at least 1. */
  readonly targetStart: number;
}

/** The teacher's distribution at one target position: the `ids` with highest probability, descending. */
export interface TopK {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
}

export interface ScoreRequest {
  readonly sequences: readonly TokenSequence[];
  readonly adapter: AdapterReference | null;
  /** How many alternatives to return at each target position; 0 for none. */
  readonly topK: number;
}

export interface SequenceScore {
  /** Natural-log probability of each target token, in order. */
  readonly logprobs: readonly number[];
  /** Whether greedy decoding would have produced exactly the targets (every target is the argmax). */
  readonly greedy: boolean;
  readonly topK: readonly TopK[];
}

export interface TrainingExample {
  readonly sequence: TokenSequence;
  /** Weight of this example's mean target loss within its batch. */
  readonly weight: number;
  /** One entry a target position: distil these probabilities instead of the hard token. */
  readonly softTargets?: readonly TopK[];
}

export interface TrainingOptions {
  /** Weights to start from; `null` starts a fresh adapter (A random, B zero). */
  readonly parent: AdapterReference | null;
  readonly rank: number;
  readonly alpha: number;
  readonly seed: number;
  readonly weightDecay?: number;
  readonly betas?: readonly [number, number];
  /** Bound on the global gradient norm. */
  readonly clipNorm?: number;
  /**
   * When a step's activations would take more memory by estimate, the layers are computed one by one, and once more
   * for their gradients. By default 4 GiB, and 1 GiB where the weights are in blocks. A sequence that would take more
   * than this and more than 16 GiB even so is refused with `memory_exceeded`.
   */
  readonly maxActivationBytes?: number;
  /**
   * Texts that the adapter is to leave as they are: no step changes what it adds along the directions in which the
   * inputs of its projections are largest there. They go through the model once, when the session is opened. By default
   * none.
   */
  readonly spared?: readonly TokenSequence[];
}

/** Goes on with a training as it was when `snapshot` wrote the folder. */
export interface ResumeOptions {
  readonly resume: string;
  /** The spared sequences that the training began with. */
  readonly spared?: readonly TokenSequence[];
  /** See `TrainingOptions`. */
  readonly maxActivationBytes?: number;
}

export interface StepResult {
  /** Weighted mean cross-entropy over the batch, in nats per target token. */
  readonly loss: number;
  /** Tokens that went through the model, without padding: the unit of training cost. */
  readonly tokens: number;
  readonly gradientNorm: number;
}

export interface ModelDescription {
  readonly architecture: string;
  readonly contextLength: number;
  readonly vocabularySize: number;
  readonly parameters: number;
  /** `sha256:<hex>` over config, tokenizer, template and weights. */
  readonly contentHash: string;
}
