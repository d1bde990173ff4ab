import { z } from 'zod';
import type { Completion } from './completionBody.js';

/** The probability of one token of the prompt, and the alternatives at its place, most probable first. */
export interface PromptToken {
  readonly id: number;
  readonly logprob: number;
  /** 1 is the most probable token. */
  readonly rank: number;
}

export interface Answered {
  readonly kind: 'answered';
  /** The token that ended the output last. */
  readonly tokens: readonly number[];
  readonly ended: 'stop' | 'length';
  readonly cachedTokens: number;
  /** One for each token, if asked for. */
  readonly logprobs: readonly number[] | null;
  /** For each token of the prompt but the first, by id, if asked for. */
  readonly promptTokens: readonly (readonly PromptToken[])[] | null;
}

export type Receipt = Answered | { readonly kind: 'receipt_missing' | 'receipt_inconsistent'; readonly reason: string };

const count = z.int().nonnegative();
const usageSchema = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count }),
});
const promptTokenSchema = z.record(z.string().regex(/^\d+$/), z.object({ logprob: z.number(), rank: z.int().min(1) }));
const choiceSchema = z.object({
  finish_reason: z.enum(['stop', 'length']),
  token_ids: z.array(count),
  logprobs: z.object({ token_logprobs: z.array(z.number()) }).nullish(),
  prompt_logprobs: z.array(promptTokenSchema.nullable()).nullish(),
});
const envelope = z.object({ usage: z.unknown().optional(), choices: z.tuple([z.unknown()]) });

/** The body of a successful completion. It is believed only if it agrees with itself and with what was asked. */
export function readReceipt(text: string, asked: Completion): Receipt {
  const answer = envelope.safeParse(parseJson(text)).data;
  if (answer === undefined) return missing('it answered with something that is no completion');
  if (answer.usage === undefined || answer.usage === null) return missing('it answered without usage');
  const usage = usageSchema.safeParse(answer.usage).data;
  if (usage === undefined) return missing('its usage lacks counts of tokens, or of cached tokens');
  const choice = choiceSchema.safeParse(answer.choices[0]).data;
  if (choice === undefined) return missing('its answer has no ids of tokens, or no end');
  const { token_ids: tokens, finish_reason: ended } = choice;
  const { cached_tokens: cachedTokens } = usage.prompt_tokens_details;
  const flaw = flawOf(usage, tokens, ended, asked);
  if (flaw !== null) return { kind: 'receipt_inconsistent', reason: flaw };
  const logprobs = asked.wants.output ? (choice.logprobs?.token_logprobs ?? []) : null;
  if (logprobs !== null && logprobs.length !== tokens.length)
    return missing('log-probabilities of its answer are missing');
  const promptTokens = asked.wants.prompt ? (choice.prompt_logprobs ?? []).slice(1).map(byRank) : null;
  if (promptTokens !== null && promptTokens.length !== asked.promptTokens - 1) {
    return missing('log-probabilities of the prompt are missing');
  }
  return { kind: 'answered', tokens, ended, cachedTokens, logprobs, promptTokens };
}

/** The first contradiction, or `null`. */
function flawOf(
  { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details }: z.output<typeof usageSchema>,
  tokens: readonly number[],
  ended: 'stop' | 'length',
  { promptTokens, maxTokens, stopTokens, stopText }: Completion,
): string | null {
  const counts = `${prompt_tokens} + ${completion_tokens} = ${total_tokens} tokens`;
  if (total_tokens !== prompt_tokens + completion_tokens) return `its usage contradicts itself: ${counts}`;
  if (prompt_tokens !== promptTokens) return `it counts ${prompt_tokens} tokens of a prompt of ${promptTokens}`;
  if (completion_tokens !== tokens.length) return `it counts ${completion_tokens} tokens and wrote ${tokens.length}`;
  if (prompt_tokens_details.cached_tokens > prompt_tokens) return 'it counts more cached tokens than the prompt has';
  // A context that is too short for both cuts the answer, and nothing but this tells.
  if (ended === 'length' && tokens.length !== maxTokens)
    return `it ended after ${tokens.length} of ${maxTokens} tokens`;
  if (tokens.length > maxTokens) return `it wrote ${tokens.length} tokens and was to write at most ${maxTokens}`;
  const isEnd = stopText !== null || stopTokens.has(tokens.at(-1) ?? -1);
  return ended === 'stop' && !isEnd ? 'it ended with a token that ends nothing' : null;
}

function byRank(place: z.output<typeof promptTokenSchema> | null): readonly PromptToken[] {
  return Object.entries(place ?? {})
    .map(([id, { logprob, rank }]) => ({ id: Number(id), logprob, rank }))
    .sort((a, b) => a.rank - b.rank);
}

function missing(reason: string): Receipt {
  return { kind: 'receipt_missing', reason };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
