/**
 * The vocabulary of the engine: messages, prompts, requests and results. All of it is plain data that crosses a process
 * boundary unchanged.
 */

/** A function call that the model made, or that a caller repeats in a conversation. */
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
   * Whether the model's markup (`<tool_call>`) in the content becomes markup tokens. By default it does in messages of
   * the assistant and of the system, which the assistant or the application wrote.
   */
  readonly markup?: boolean;
  readonly name?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolCallId?: string;
}

/** A conversation as the chat template renders it, up to where the assistant is to speak. */
export interface ChatPrompt {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
  /**
   * Whether a model that can think before it answers does so (`enable_thinking` of its template). By default the
   * template decides.
   */
  readonly thinking?: boolean;
  /**
   * The common beginning of many prompts, as a conversation of its own: the messages up to where the prompts differ,
   * the last one cut there. Attention state is reused up to there, and otherwise in whole chunks, see
   * `GenerateRequest.isolationKey`.
   */
  readonly sharedBeginning?: readonly ChatMessage[];
}

/** A saved adapter: a folder in PEFT's format, and the hash that its content must have. */
export interface AdapterReference {
  readonly folder: string;
  /** `sha256:<hex>` over the adapter's files, see `adapters/contentHash.ts`. */
  readonly contentHash: string;
}

/** The effect of an adapter on a few sequences, as it was trained. */
export interface AdapterProbe {
  /** Tokens. Each sequence's targets are all tokens after its first. */
  readonly sequences: readonly (readonly number[])[];
  /** Mean cross-entropy of each sequence's targets with the adapter, in nats. */
  readonly losses: readonly number[];
}

/** How a saved adapter stores its numbers: unchanged, or rounded to half the size. Computation uses F32 either way. */
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
   * arXiv:2407.01082). Between 0 and 1, by default 0.
   */
  readonly minP?: number;
  /** Whether the result should say how likely the output was. */
  readonly wantsLogprob?: boolean;
  /** Seed of the sampler. The same request with the same seed gives the same tokens. */
  readonly seed?: number;
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  /**
   * Requests with the same key and the same adapter, or none, reuse each other's attention state if their prompts begin
   * alike. The answer does not depend on it. Without a key nothing is kept or reused.
   */
  readonly isolationKey?: string;
}

export interface GenerateUsage {
  readonly inputTokens: number;
  /** Includes reasoning, and the end-of-turn token if the model wrote one. */
  readonly outputTokens: number;
  /** Prompt tokens whose attention state was reused. Never more than `inputTokens`. */
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
}

export interface GenerateResult {
  readonly text: string;
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly toolCalls: readonly ToolCall[];
  /** Set when the model's tool-call text is no readable call of an offered function. */
  readonly invalidToolCall?: string;
  /**
   * Log-probability of the whole output, end of turn included, in nats at a temperature of 1. Set when the request
   * asked for it. Forced tokens count as certain.
   */
  readonly logprob?: number;
  readonly usage: GenerateUsage;
}

/** A token sequence whose tokens from `targetStart` on are to be predicted. */
export interface TokenSequence {
  readonly tokens: readonly number[];
  /** Index of the first target token, at least 1. */
  readonly targetStart: number;
}

/** The teacher's distribution at one target position: the ids of highest probability, descending. */
export interface TopK {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
}

export interface ScoreRequest {
  readonly sequences: readonly TokenSequence[];
  readonly adapter: AdapterReference | null;
  /** The number of alternatives to return at each target position; 0 for none. */
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
  /** One entry for each target position. Distils these probabilities in place of the hard token. */
  readonly softTargets?: readonly TopK[];
  /** One weight of at least 0 for each target, not all 0: what each counts in the mean. By default all count alike. */
  readonly targetWeights?: readonly number[];
}

export interface TrainingOptions {
  /** The weights to start from. `null` starts a fresh adapter (A random, B zero). */
  readonly parent: AdapterReference | null;
  readonly rank: number;
  readonly alpha: number;
  readonly seed: number;
  /**
   * The lowest layer, from 0, that a fresh adapter changes. A sequence's states below it never change, so they are
   * computed once and kept for the steps that show the sequence again. By default 0. A parent keeps its own layers.
   */
  readonly firstLayer?: number;
  readonly weightDecay?: number;
  readonly betas?: readonly [number, number];
  /** Bound on the global gradient norm. */
  readonly clipNorm?: number;
  /**
   * Bound on the estimated memory of a step's activations. A step that would take more computes the layers one by one,
   * and once more for their gradients. By default 4 GiB, or 1 GiB if the weights are quantised. A sequence is
   * refused with `memory_exceeded` if even then it would take more than this bound and more than 16 GiB.
   */
  readonly maxActivationBytes?: number;
  /**
   * Texts whose main input directions are protected. No step changes what the adapter adds along the directions in
   * which these texts make the inputs of its projections largest. The texts pass through the model once, when the
   * session is opened. By default none.
   */
  readonly protectedDirections?: readonly TokenSequence[];
}

/** Resumes a training from the folder that `snapshot` wrote. */
export interface ResumeOptions {
  readonly resume: string;
  /** The same sequences that the training began with. */
  readonly protectedDirections?: readonly TokenSequence[];
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
