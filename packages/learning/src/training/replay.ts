import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChatPrompt } from '@engraft/engine';
import { z } from 'zod';
import { deriveSeed, randomNumbers, shuffled } from '../random.js';
import type { Recipe } from '../recipe/recipe.js';
import { givesAnswer } from '../text/judge.js';
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
  beginning: z.boolean().exactOptional(),
  exact: z.boolean().exactOptional(),
});

/** A file beside the weights. */
export const replayFile = 'replay.jsonl';

/**
 * Reads the replay rows beside a checkpoint, one JSON object a line in `replay.jsonl`. There are none without that
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

/** The share of the canaries that the model is known to answer right, if there are so many. */
const knownShare = 2 / 3;

/**
 * The rows that one job trains on, and those that it keeps for its canaries. No row is both. A row that the model
 * itself answers wrong says little about what was lost, and a handful of others decides by chance. So canaries are
 * taken first from rows whose own reply is known to be right. Beginnings of other replies than theirs are all trained.
 */
export function drawReplay(
  rows: readonly ReplayRow[],
  seed: number,
  { evaluating: { maxCanaries }, replay: { maxRows } }: Pick<Recipe, 'evaluating' | 'replay'>,
): { readonly canaries: readonly ReplayRow[]; readonly replay: readonly ReplayRow[] } {
  const random = randomNumbers(deriveSeed(seed, 'replay'));
  const isBeginning = ({ beginning = false }: ReplayRow): boolean => beginning;
  const whole = rows.filter((row) => !isBeginning(row));
  const drawn = shuffled(whole, random).map((row) => upToSomeTurn(row, random));
  const canaryCount = Math.min(maxCanaries, Math.floor(drawn.length / 2));
  const known = new Set(drawn.filter(isKnown).slice(0, Math.floor(knownShare * canaryCount)));
  const others = drawn.filter((row) => !known.has(row));
  const otherCount = canaryCount - known.size;
  const canaries = [...known, ...others.slice(0, otherCount)];
  const asked = new Set(canaries.map(promptKey));
  const beginnings = rows.filter((row) => isBeginning(row) && !asked.has(promptKey(row)));
  return { canaries, replay: [...others.slice(otherCount, otherCount + maxRows), ...beginnings] };
}

function promptKey({ messages }: ReplayRow): string {
  return JSON.stringify(messages.slice(0, -1));
}

function isKnown(row: ReplayRow): boolean {
  if (row.expected === undefined) return false;
  const { prompt, completion } = replayPrompt(row);
  return givesAnswer(prompt.messages.at(-1)?.content ?? '', completion, row.expected);
}

/**
 * Cuts the row after one of the assistant's turns, so that training does not always practise the last turn of a long
 * conversation, and most rows are shorter.
 */
export function upToSomeTurn(row: ReplayRow, random: () => number): ReplayRow {
  const turns = row.messages.flatMap(({ role, content }, index) =>
    role === 'assistant' && content !== '' ? [index] : [],
  );
  const last = turns[Math.floor(random() * turns.length)];
  if (last === undefined || last === row.messages.length - 1) return row;
  // `expected` is about the last reply only.
  const messages = row.messages.slice(0, last + 1);
  return row.tools === undefined ? { messages } : { messages, tools: row.tools };
}

/** Damaged JSON becomes `undefined`; the schema refuses it and names the line. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
