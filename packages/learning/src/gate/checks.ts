/** Checks of replies that have a right answer. Replay rows say what it is. */
import { parseToolCalls, type ToolCall } from '@engraft/engine';
import type { Reply } from '../baseMemory.js';
import { givesAnswer } from '../text/judge.js';
import { jsonObjectOf } from '../text/jsonObject.js';
import { wordTokens } from '../text/normalise.js';
import { sameValue } from '../text/sameValue.js';
import { replayPrompt } from '../training/replay.js';
import type { ReplayRow } from '../types.js';

export type Check = (reply: Reply) => boolean;

/**
 * The check of a row's reply: for calls of the same functions with the same arguments, for an object with the same
 * keys, or for its answer. `null` for free talk, which has no right answer.
 */
export function checkOf(row: ReplayRow): Check | null {
  const { prompt, completion } = replayPrompt(row);
  const question = prompt.messages.at(-1)?.content ?? '';
  const calls = callsOf(row, completion);
  if (calls.length > 0) return ({ toolCalls }) => sameCalls(toolCalls, calls);
  const keys = keysOf(completion);
  if (keys !== null) return ({ text }) => keysOf(text) === keys;
  if (row.expected !== undefined) return ({ text }) => givesAnswer(question, text, row.expected ?? []);
  return wordTokens(completion).length <= maxAnswerWords
    ? ({ text }) => givesAnswer(question, text, [completion])
    : null;
}

/** A reply of at most this many words is an answer rather than talk. */
const maxAnswerWords = 3;

function callsOf({ tools = [] }: ReplayRow, completion: string): readonly ToolCall[] {
  const offered = new Set(tools.map(({ name }) => name));
  return parseToolCalls(completion, { offered, truncated: false, single: false }).calls;
}

function sameCalls(given: readonly ToolCall[], expected: readonly ToolCall[]): boolean {
  return given.length === expected.length && expected.every((call, index) => isSameCall(given[index], call));
}

function isSameCall(given: ToolCall | undefined, expected: ToolCall): boolean {
  return given?.name === expected.name && sameValue(jsonObjectOf(given.arguments), jsonObjectOf(expected.arguments));
}

/** The sorted keys of a JSON object, or `null` for anything else. */
function keysOf(text: string): string | null {
  const object = jsonObjectOf(text.replace(/^```(?:json)?\s*|\s*```\s*$/gu, ''));
  return object === null ? null : JSON.stringify(Object.keys(object).sort());
}
