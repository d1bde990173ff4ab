/** Checks of replies that have a right answer. Replay rows say what it is. */
import type { Reply } from '../baseMemory.js';
import { givesValues, textOf } from '../text/givesValues.js';
import { givesAnswer } from '../text/judge.js';
import { jsonObjectOf } from '../text/jsonObject.js';
import { wordTokens } from '../text/normalise.js';
import { replayPrompt } from '../training/replay.js';
import type { ReplayRow } from '../types.js';

export type Check = (reply: Reply) => boolean;

/**
 * The check of a row's reply: the call of the row with its arguments, an object with its keys, or its answer. `null`
 * for free talk, which has no right answer.
 */
export function checkOf(row: ReplayRow): Check | null {
  const { prompt, completion } = replayPrompt(row);
  const question = prompt.messages.at(-1)?.content ?? '';
  const called = row.tools?.find(({ name }) => completion.includes(`"${name}"`));
  if (called !== undefined) return callCheck(called.name, completion);
  const keys = keysOf(completion);
  if (keys !== null) return ({ text }) => keysOf(text) === keys;
  if (row.expected !== undefined) return ({ text }) => givesAnswer(question, text, row.expected ?? []);
  return wordTokens(completion).length <= maxAnswerWords
    ? ({ text }) => givesAnswer(question, text, [completion])
    : null;
}

/** A reply of at most this many words is an answer rather than talk. */
const maxAnswerWords = 3;

function callCheck(name: string, completion: string): Check {
  const expected = argumentsOf(completion);
  return ({ toolCalls: [call] }) => {
    if (call?.name !== name) return false;
    const given = jsonObjectOf(call.arguments);
    return given !== null && givesValues(given, expected);
  };
}

/** The arguments of a call as templates write it. None if it is written in another way, or there are several calls. */
function argumentsOf(completion: string): Record<string, string> {
  const call = jsonObjectOf(/\{.*\}/su.exec(completion)?.[0] ?? '');
  const given = call !== null && 'arguments' in call ? call.arguments : null;
  if (typeof given !== 'object' || given === null) return {};
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, textOf(value)]));
}

/** The sorted keys of a JSON object, or `null` for anything else. */
function keysOf(text: string): string | null {
  const object = jsonObjectOf(text.replace(/^```(?:json)?\s*|\s*```\s*$/gu, ''));
  return object === null ? null : JSON.stringify(Object.keys(object).sort());
}
