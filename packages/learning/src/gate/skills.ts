/**
 * Whether a candidate keeps its parent's skills. A reply to an unrelated prompt may change its wording, so replies are
 * not compared word for word. Replies that can be checked are checked. For all of them, we measure how much less likely
 * the parent's own reply has become.
 */
import type { AdapterReference, GenerateRequest } from '@engraft/engine';
import type { BaseMemory, Reply } from '../baseMemory.js';
import { mapConcurrently, type MeteredCalls, type ScoreCall } from '../budget/calls.js';
import type { Recipe } from '../recipe/recipe.js';
import { replayPrompt } from '../training/replay.js';
import type { Comparison, Drift, ReplayRow } from '../types.js';
import { checkOf } from './checks.js';

export interface Skills {
  /** Counts of the replies that can be checked. */
  readonly canaries: Comparison;
  readonly drift: Drift;
}

/**
 * Compares replies to rows of the base model's own training, or to its own replies. Rows that the money does not reach
 * count as unasked.
 */
export async function compareSkills(
  calls: MeteredCalls,
  memory: BaseMemory,
  candidate: AdapterReference,
  parent: AdapterReference | null,
  rows: readonly ReplayRow[],
  recipe: Recipe,
): Promise<Skills> {
  const ofParent = await replies(calls, memory, parent, rows, recipe);
  const checkable = rows.flatMap((row, index) => {
    const passes = checkOf(row);
    return passes === null ? [] : [{ row, passes, ofParent: ofParent[index] ?? null }];
  });
  const ofCandidate = await replies(
    calls,
    memory,
    candidate,
    checkable.map(({ row }) => row),
    recipe,
  );
  const canaries = { candidate: 0, parent: 0, total: 0, unasked: 0 };
  for (const [index, { passes, ofParent: parentReply }] of checkable.entries()) {
    const candidateReply = ofCandidate[index] ?? null;
    if (parentReply === null || candidateReply === null) {
      canaries.unasked++;
      continue;
    }
    canaries.total++;
    if (passes(candidateReply)) canaries.candidate++;
    if (passes(parentReply)) canaries.parent++;
  }
  return { canaries, drift: await measureDrift(calls, memory, candidate, parent, rows, ofParent) };
}

function replies(
  calls: MeteredCalls,
  memory: BaseMemory,
  adapter: AdapterReference | null,
  rows: readonly ReplayRow[],
  { evaluating: { maxReplyTokens } }: Recipe,
): Promise<(Reply | null)[]> {
  const requests = rows.map((row): GenerateRequest => {
    return { prompt: replayPrompt(row).prompt, adapter, maxOutputTokens: maxReplyTokens, temperature: 0 };
  });
  return memory.generate(calls, requests, 1);
}

/**
 * Measures drift on the parent's replies, except for calls, which are checked. A reply that was cut off is scored
 * without an end of turn.
 */
async function measureDrift(
  calls: MeteredCalls,
  memory: BaseMemory,
  candidate: AdapterReference,
  parent: AdapterReference | null,
  rows: readonly ReplayRow[],
  ofParent: readonly (Reply | null)[],
): Promise<Drift> {
  const said = rows.flatMap((row, index) => {
    const reply = ofParent[index] ?? null;
    return reply === null || reply.text === '' || reply.toolCalls.length > 0 ? [] : [{ row, reply }];
  });
  const sequences = await mapConcurrently(said, async ({ row, reply }) => {
    const { prompt } = replayPrompt(row);
    const { tokens, targetStart } = await calls.engine.encode(prompt, reply.text, { markup: true });
    if (reply.finishReason !== 'length') return { tokens, targetStart };
    const nothing = await calls.engine.encode(prompt, '');
    const endTokens = nothing.tokens.length - nothing.targetStart;
    return { tokens: tokens.slice(0, Math.max(targetStart + 1, tokens.length - endTokens)), targetStart };
  });
  const requests = sequences.flatMap((sequence) =>
    [candidate, parent].map((adapter): ScoreCall => ({ sequence, adapter, topK: 0 })),
  );
  const scores = await memory.score(calls, requests, 1);
  const lost: number[] = [];
  let compared = 0;
  for (const index of sequences.keys()) {
    const [ofCandidate, before] = [scores[2 * index] ?? null, scores[2 * index + 1] ?? null];
    if (ofCandidate === null || before === null) continue;
    compared++;
    lost.push(...before.logprobs.map((logprob, token) => logprob - (ofCandidate.logprobs[token] ?? logprob)));
  }
  const nats = lost.length === 0 ? null : lost.reduce((sum, one) => sum + one, 0) / lost.length;
  const unanswered = rows.length - ofParent.filter((reply) => reply !== null).length;
  return { nats, replies: compared, unasked: unanswered + said.length - compared };
}
