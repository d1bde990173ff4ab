import type { RemoteOutcome } from '@engraft/learning';
import { z } from 'zod';

const count = z.int().nonnegative();

const usageSchema = z.object({
  prompt_tokens: count.min(1),
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count.nullish() }).nullish(),
});

const completion = z.object({
  choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })], z.unknown()),
});

/**
 * The body of a successful chat completion: its cost, and its text, which may be empty. Without a usage that is
 * consistent and fits the request, it is not known what is owed.
 */
export function readReceipt(body: string, maxTokens: number): RemoteOutcome {
  const answer = z.object({ usage: z.unknown().optional() }).safeParse(parseJson(body)).data;
  if (answer === undefined)
    return { kind: 'receipt_missing', reason: 'it answered with something that is no JSON object' };
  if (answer.usage === undefined || answer.usage === null) {
    return { kind: 'receipt_missing', reason: 'it answered without usage' };
  }
  const usage = usageSchema.safeParse(answer.usage).data;
  if (usage === undefined) return { kind: 'receipt_inconsistent', reason: 'its usage has no counts of tokens' };
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  const cachedTokens = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const counts = `${prompt_tokens} + ${completion_tokens} = ${total_tokens} tokens, ${cachedTokens} of them cached`;
  if (total_tokens !== prompt_tokens + completion_tokens || cachedTokens > prompt_tokens) {
    return { kind: 'receipt_inconsistent', reason: `its usage contradicts itself: ${counts}` };
  }
  if (completion_tokens > maxTokens) {
    return {
      kind: 'receipt_inconsistent',
      reason: `its usage is beyond the ${maxTokens} that were asked for: ${counts}`,
    };
  }
  const text = completion.safeParse(parseJson(body)).data?.choices[0].message.content ?? '';
  return {
    kind: 'answered',
    text,
    usage: { inputTokens: prompt_tokens, outputTokens: completion_tokens, cachedInputTokens: cachedTokens },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
