import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChatPrompt } from '@engraft/engine';
import { z } from 'zod';
import { deriveSeed, randomNumbers, shuffled } from '../random.js';
import type { Recipe } from '../recipe/recipe.js';
import type { ReplayRow } from '../types.js';

const toolCallSchema = z.object({ id: z.string(), name: z.string(), arguments: z.string() });

const messageSchema = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  name: z.string().exactOptional(),
  toolCalls: z.array(toolCallSchema).exactOptional(),
  toolCallId: z.string().exactOptional(),
  markup: z.boolean().exactOptional(),
});

const toolSchema = z.object({
  name: z.string(),
  description: z.string().exactOptional(),
  parameters: z.record(z.string(), z.unknown()),
});

const rowSchema = z.object({
  messages: z.array(messageSchema).min(2),
  tools: z.array(toolSchema).exactOptional(),
  expected: z.array(z.string().min(1)).exactOptional(),
});

/** A file beside the weights. */
export const replayFile = 'replay.jsonl';

/**
 * The replay rows shipped beside a checkpoint, one JSON object a line in `replay.jsonl`; none when there is no such
 * file. A row whose last message is not text of the assistant teaches nothing and is left out.
 */
export async function loadReplay(modelDir: string): Promise<ReplayRow[]> {
  const file = join(modelDir, replayFile);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  const rows: ReplayRow[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const row = rowSchema.safeParse(parseJson(line));
    if (!row.success) throw new Error(`${file}, line ${index + 1}: ${z.prettifyError(row.error)}`);
    const last = row.data.messages.at(-1);
    if (last?.role === 'assistant' && last.content !== '') rows.push(row.data);
  }
  return rows;
}

/** A row as a prompt and what the assistant says to it. */
export function replayPrompt({ messages, tools }: ReplayRow): { prompt: ChatPrompt; completion: string } {
  const prompt = { messages: messages.slice(0, -1), thinking: false, ...(tools === undefined ? {} : { tools }) };
  return { prompt, completion: messages.at(-1)?.content ?? '' };
}

/** The rows that one job practises, and those that it keeps for its canaries; none is both. */
export function drawReplay(
  rows: readonly ReplayRow[],
  seed: number,
  { evaluating: { maxCanaries }, replay: { maxRows } }: Pick<Recipe, 'evaluating' | 'replay'>,
): { readonly canaries: readonly ReplayRow[]; readonly replay: readonly ReplayRow[] } {
  const random = randomNumbers(deriveSeed(seed, 'replay'));
  const drawn = shuffled(rows, random).map((row) => upToSomeTurn(row, random));
  const canaryCount = Math.min(maxCanaries, Math.floor(drawn.length / 2));
  return {
    canaries: drawn.slice(0, canaryCount),
    replay: drawn.slice(canaryCount, canaryCount + maxRows),
  };
}

/**
 * The row up to one of the assistant's turns, so that in a long conversation not always the last one is practised,
 * and most rows are shorter.
 */
export function upToSomeTurn(row: ReplayRow, random: () => number): ReplayRow {
  const turns = row.messages.flatMap(({ role, content }, index) =>
    role === 'assistant' && content !== '' ? [index] : [],
  );
  const last = turns[Math.floor(random() * turns.length)];
  if (last === undefined || last === row.messages.length - 1) return row;
  // What is expected is so of the last reply only.
  const messages = row.messages.slice(0, last + 1);
  return row.tools === undefined ? { messages } : { messages, tools: row.tools };
}

/** Damaged JSON is refused by the schema, which names the line. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
