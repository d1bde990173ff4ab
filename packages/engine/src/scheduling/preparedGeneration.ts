/** A request as the model gets it: tokens, and what may be drawn. */
import { EngineError } from '../engine.js';
import { bannedTokens } from '../output/bannedTokens.js';
import { forcedText, singleCallEnd } from '../output/reply.js';
import { callEnd } from '../output/toolCalls.js';
import type { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { ChatPrompt, GenerateRequest } from '../types.js';
import { checkRequest } from './checkRequest.js';

export interface PreparedGeneration {
  /** At least one token. Leaves room for one more in the context. */
  readonly prompt: readonly number[];
  /** The number of tokens at the beginning of the prompt that are those of its `sharedBeginning`; 0 without one. */
  readonly sharedTokens: number;
  /** Tokens that the output begins with, whatever the model would have preferred. */
  readonly forced: readonly number[];
  /** Greatest length of the output, forced tokens included; at least 1. It fits in the context after the prompt. */
  readonly maxOutputTokens: number;
  /** Each of these ends the output. */
  readonly stopTokens: ReadonlySet<number>;
  /** Tokens that must not be drawn. */
  readonly banned: readonly number[];
  /** A text that ends the output wherever it stands; `null` if there is none. */
  readonly endText: string | null;
}

/** The model for which a request is prepared. */
export interface PromptModel {
  readonly tokenizer: ChatTokenizer;
  readonly contextLength: number;
  /** See `tokenlessIds`. */
  readonly tokenless: readonly number[];
}

/** @throws EngineError `invalid_request` or `context_length_exceeded` */
export function prepareGeneration(model: PromptModel, request: GenerateRequest): PreparedGeneration {
  checkRequest(request);
  const { tokenizer, contextLength, tokenless } = model;
  const prompt = tokenizer.encodePrompt(request.prompt);
  const maxTokens = contextLength - prompt.length;
  if (prompt.length === 0) throw new EngineError('invalid_request', 'the rendered prompt is empty');
  if (maxTokens < 1) {
    const message = `the prompt has ${prompt.length} tokens, and the context length is ${contextLength}`;
    throw new EngineError('context_length_exceeded', `${message}: no token of an answer would fit`);
  }
  return {
    prompt,
    sharedTokens: sharedTokens(tokenizer, request.prompt, prompt),
    forced: tokenizer.encodeOpening(request.prompt, forcedText(tokenizer, request)),
    maxOutputTokens: Math.min(request.maxOutputTokens, maxTokens),
    stopTokens: tokenizer.stopTokens,
    banned: [...tokenless, ...bannedTokens(tokenizer, request)],
    // Quoted in a thought, the end of a call ends nothing.
    endText: singleCallEnd(tokenizer, request) === undefined || tokenizer.mayThink(request.prompt) ? null : callEnd,
  };
}

/** Renders the shared beginning as a prompt of its own, which ends differently. */
function sharedTokens(tokenizer: ChatTokenizer, prompt: ChatPrompt, tokens: readonly number[]): number {
  if (prompt.sharedBeginning === undefined) return 0;
  const beginning = tokenizer.encodePrompt({ ...prompt, messages: prompt.sharedBeginning });
  const differs = beginning.findIndex((token, place) => token !== tokens[place]);
  return differs === -1 ? beginning.length : differs;
}
