/**
 * Replay for a checkpoint that comes without rows: the model's own replies to prompts of many kinds. Training should
 * keep the model's own way of speaking (`baseTargets.ts`), so its outputs can stand for the data it was trained on (Li
 * and Hoiem, Learning without Forgetting, arXiv:1606.09282).
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ChatPrompt, Engine } from '@engraft/engine';
import { mapConcurrently } from '../budget/calls.js';
import type { Recipe } from '../recipe/recipe.js';
import { jsonObjectOf } from '../text/jsonObject.js';
import type { ReplayRow } from '../types.js';
import { loadReplay, replayFile } from './replay.js';
import { askings, objects, questions, readings, remarks, sums, wellKnown } from './replayPrompts.js';

/**
 * The rows shipped beside the checkpoint, or else the model's own replies. These depend on the checkpoint alone, so
 * they are kept under `cacheFolder`, if there is one. Without it they are asked for again, which takes a while.
 */
export async function replayOf(
  engine: Engine,
  shipped: readonly ReplayRow[],
  recipe: Recipe,
  cacheFolder: string | null = null,
): Promise<readonly ReplayRow[]> {
  if (shipped.length > 0) return shipped;
  if (cacheFolder === null) return ownReplay(engine, recipe);
  const folder = path.join(cacheFolder, await identityOf(engine, recipe));
  // Rows that cannot be read are asked for again.
  const kept = await loadReplay(folder).catch(() => []);
  if (kept.length > 0) return kept;
  const rows = await ownReplay(engine, recipe);
  // Learning has its rows. Rows that cannot be kept only cost the next start the same time.
  await keepRows(folder, rows).catch(() => undefined);
  return rows;
}

/** Several processes may write at once, so each has a name of its own until the file is whole. */
async function keepRows(folder: string, rows: readonly ReplayRow[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const partial = path.join(folder, `${replayFile}.${randomUUID()}.new`);
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  await writeFile(partial, text, { mode: 0o600, flush: true });
  await rename(partial, path.join(folder, replayFile));
}

/** Two equal identities give equal replies. */
async function identityOf(engine: Engine, recipe: Recipe): Promise<string> {
  const { contentHash } = await engine.describe();
  const asked = { contentHash, asked: askedOf(recipe), maxReplyTokens: recipe.evaluating.maxReplyTokens };
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex');
}

/**
 * Greedy, so that the same model gives the same rows. A reply that is cut off does not show how the model ends one, and
 * is left out, but for its beginning where that is wanted. So is a wrong object, which would be learned by heart.
 */
async function ownReplay(engine: Engine, recipe: Recipe): Promise<ReplayRow[]> {
  // The gate asks for no longer replies.
  const { maxReplyTokens } = recipe.evaluating;
  const rows = await mapConcurrently(askedOf(recipe), async (asked): Promise<ReplayRow[]> => {
    const { prompt, expected, isExact, keys, showsBeginning } = asked;
    const request = { prompt, adapter: null, maxOutputTokens: maxReplyTokens, temperature: 0 };
    const { text, finishReason } = await engine.generate(request);
    const messages = [...prompt.messages, { role: 'assistant', content: text } as const];
    if (text.trim() === '') return [];
    const asks = prompt.messages.at(-1)?.content ?? '';
    if (keys !== undefined && !isRightObject(text, asks, keys)) return [];
    const kind = isExact === true ? { exact: true } : {};
    const whole =
      finishReason !== 'stop'
        ? []
        : [{ messages, ...(expected === undefined ? {} : { expected: [expected] }), ...kind }];
    return showsBeginning ? [...whole, { messages, beginning: true }] : whole;
  });
  return rows.flat();
}

interface Asked {
  readonly prompt: ChatPrompt;
  /** A right reply contains this. Absent if no reply can be checked. */
  readonly expected?: string;
  readonly showsBeginning?: boolean;
  /** See `ReplayRow.exact`. */
  readonly isExact?: boolean;
  /** A right reply is a JSON object with these keys, whose values stand in the request. */
  readonly keys?: readonly string[];
}

function isRightObject(reply: string, request: string, keys: readonly string[]): boolean {
  const object = jsonObjectOf(reply);
  if (object === null) return false;
  const values = Object.values(object).map((value) => String(value).toLowerCase());
  const said = request.toLowerCase();
  return (
    keys.every((key) => Object.hasOwn(object, key)) &&
    values.every((value) => value.trim() !== '' && said.includes(value))
  );
}

function askedOf({ prompts, replay }: Pick<Recipe, 'prompts' | 'replay'>): Asked[] {
  const showsBeginning = replay.beginningRowsPerBatch > 0;
  return [
    ...remarks.map((remark) => ({ prompt: prompts.closedBook(remark) })),
    ...wellKnown.map(([question, expected]) => {
      const asked = { prompt: prompts.closedBook(question), expected };
      return showsBeginning ? { ...asked, showsBeginning } : asked;
    }),
    ...sums.map(([question, expected]) => ({ prompt: prompts.closedBook(question), expected, isExact: true })),
    ...objects.map(([request, keys]) => ({ prompt: prompts.closedBook(request), isExact: true, keys })),
    ...questions.map((question) => ({ prompt: prompts.rephrase(question, null) })),
    ...readings.map(([passage, question, expected]) => ({ prompt: prompts.reading(passage, question), expected })),
    ...askings.map(([passage, answer]) => ({ prompt: prompts.ask(passage, answer) })),
  ];
}
