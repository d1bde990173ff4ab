/**
 * Remembers base's replies to rows that jobs have in common, and the probabilities it gives them. Both depend on the
 * checkpoint and the row alone. So the first job that needs them asks, and the others are spared the time and the
 * money. Nothing about a passage may be asked here.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { AdapterReference, Engine, GenerateRequest, GenerateResult, SequenceScore } from '@engraft/engine';
import { z } from 'zod';
import { mapConcurrently, type MeteredCalls, type ScoreCall } from './budget/calls.js';

/** The parts of a reply that a job looks at. */
export type Reply = Pick<GenerateResult, 'text' | 'toolCalls' | 'finishReason'>;

const topKSchema = z.object({ ids: z.array(z.int().nonnegative()), logprobs: z.array(z.number()) });
const scoreSchema = z.object({ logprobs: z.array(z.number()), greedy: z.boolean(), topK: z.array(topKSchema) });
const toolCallSchema = z.object({ id: z.string(), name: z.string(), arguments: z.string() });
const replySchema = z.object({
  text: z.string(),
  toolCalls: z.array(toolCallSchema),
  finishReason: z.enum(['stop', 'length', 'tool_calls']),
});

/** Remembers what is asked of base. Requests with an adapter pass through. */
export class BaseMemory {
  /** `folder` is of one checkpoint alone. Without a folder nothing is remembered. */
  constructor(private readonly folder: string | null) {}

  /** Like `MeteredCalls.score`. What is remembered costs nothing. */
  score(calls: MeteredCalls, requests: readonly ScoreCall[], share: number): Promise<(SequenceScore | null)[]> {
    return this.#recall('score', requests, scoreSchema, async (unknown) => {
      const scores = await calls.score(unknown, share);
      return scores.map((score) => score && rounded(score));
    });
  }

  /** Like `MeteredCalls.generate`, for greedy replies. What is remembered costs nothing. */
  generate(calls: MeteredCalls, requests: readonly GenerateRequest[], share: number): Promise<(Reply | null)[]> {
    return this.#recall('generate', requests, replySchema, async (unknown) => {
      const results = await calls.generate(unknown, share);
      return results.map((result) => result && replyOf(result));
    });
  }

  async #recall<Request extends { readonly adapter: AdapterReference | null }, Result>(
    kind: string,
    requests: readonly Request[],
    schema: z.ZodType<Result>,
    ask: (unknown: readonly Request[]) => Promise<(Result | null)[]>,
  ): Promise<(Result | null)[]> {
    const { folder } = this;
    if (folder === null) return ask(requests);
    const asked = await mapConcurrently(requests, async (request) => {
      const file = request.adapter === null ? path.join(folder, nameOf(kind, request)) : null;
      return { request, file, known: file === null ? null : await readResult(file, schema) };
    });
    const unknown = asked.filter(({ known }) => known === null);
    const answers = await ask(unknown.map(({ request }) => request));
    await mapConcurrently(unknown, async ({ file }, index) => {
      const answer = answers[index] ?? null;
      if (file !== null && answer !== null) await keepResult(file, answer);
    });
    const inTurn = answers.values();
    return asked.map(({ known }) => known ?? inTurn.next().value ?? null);
  }
}

/** The memory of the engine's model, in a folder that models share. `null` for none. */
export async function baseMemoryOf(engine: Engine, folder: string | null): Promise<BaseMemory> {
  if (folder === null) return new BaseMemory(null);
  return new BaseMemory(path.join(folder, `base-${sha256(JSON.stringify(await engine.describe()))}`));
}

function nameOf(kind: string, request: unknown): string {
  return `${sha256(JSON.stringify([kind, request]))}.json`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** `null` if there is no such file, or it cannot be used. Then base is asked. */
async function readResult<Result>(file: string, schema: z.ZodType<Result>): Promise<Result | null> {
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return null;
  }
}

/**
 * Several processes may write at once, so each has a name of its own until the file is whole. A result that cannot be
 * kept only costs the next job the same time.
 */
async function keepResult(file: string, result: unknown): Promise<void> {
  const partial = `${file}.${randomUUID()}.new`;
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(partial, JSON.stringify(result), { mode: 0o600 });
    await rename(partial, file);
  } catch {
    // The job has its result.
  }
}

function replyOf({ text, toolCalls, finishReason }: GenerateResult): Reply {
  return { text, toolCalls, finishReason };
}

/** Rounds far below what a training can tell apart, which halves the file. Adding 0 spares JSON a −0. */
function rounded({ logprobs, greedy, topK }: SequenceScore): SequenceScore {
  const round = (values: readonly number[]): number[] => values.map((value) => Math.round(value * 1e5) / 1e5 + 0);
  return {
    logprobs: round(logprobs),
    greedy,
    topK: topK.map((one) => ({ ids: one.ids, logprobs: round(one.logprobs) })),
  };
}
