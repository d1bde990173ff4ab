/** Replay rows as token sequences, by how training shows them. */
import type { Engine, TokenSequence, TrainingExample } from '@engraft/engine';
import { mapConcurrently } from '../budget/calls.js';
import { spreadSample } from '../random.js';
import type { Recipe, ReplayRecipe } from '../recipe/recipe.js';
import { jsonObjectOf } from '../text/jsonObject.js';
import type { ReplayRow } from '../types.js';
import { beginningOf } from './beginnings.js';
import { replayPrompt } from './replay.js';

export interface EncodedReplay {
  /** Rows of the base model's own training. */
  readonly replay: readonly TrainingExample[];
  /** Rows of which one wrong token spoils the reply, see `ReplayRecipe.exactRowsPerBatch`. */
  readonly exact: readonly TrainingExample[];
  /** Such rows whose reply is a JSON object. They are learned as they stand, see `withBaseTargets`. */
  readonly objects: readonly TrainingExample[];
  /** The beginnings of rows' answers, see `ReplayRecipe.beginningRowsPerBatch`. */
  readonly beginnings: readonly TrainingExample[];
  /** Some of all whole rows, also of those that are too long to be replayed: what the adapter is to leave as it is. */
  readonly protectedDirections: readonly TokenSequence[];
}

export async function encodeReplay(
  engine: Engine,
  rows: readonly ReplayRow[],
  { replay: recipe }: Pick<Recipe, 'replay'>,
): Promise<EncodedReplay> {
  const encoded = await mapConcurrently(rows, async (row) => {
    const { prompt, completion } = replayPrompt(row);
    // The model's own writing, including calls.
    const sequence = await engine.encode(prompt, completion, { markup: true });
    return { kind: kindOf(row, completion, recipe), sequence };
  });
  const sequencesOf = (wanted: ReplayKind): TokenSequence[] =>
    encoded.flatMap(({ kind, sequence }) => (kind === wanted ? [sequence] : []));
  const rowsOf = (wanted: ReplayKind): TrainingExample[] =>
    sequencesOf(wanted).map((sequence) => ({ sequence, weight: recipe.weight * lengthWeight(sequence, recipe) }));
  const worthReplaying = (of: readonly TrainingExample[]): TrainingExample[] =>
    of.filter(({ sequence }) => isWorthReplaying(sequence, recipe));
  const [whole, exact, objects] = [rowsOf('whole'), rowsOf('exact'), rowsOf('object')];
  const usual = worthReplaying(whole);
  const beginnings = recipe.beginningRowsPerBatch === 0 ? [] : sequencesOf('beginning');
  return {
    replay: usual.length > 0 ? usual : whole,
    exact: worthReplaying(exact),
    objects: worthReplaying(objects),
    beginnings: beginnings.map((sequence) => beginningOf({ sequence, weight: recipe.weight }, recipe.beginningTokens)),
    protectedDirections: spreadSample(
      [...whole, ...exact, ...objects].map(({ sequence: { tokens } }) => ({
        tokens: tokens.slice(0, recipe.maxProtectedTokens),
        targetStart: 1,
      })),
      recipe.protectedRows,
    ),
  };
}

type ReplayKind = 'whole' | 'exact' | 'object' | 'beginning';

function kindOf({ beginning, exact }: ReplayRow, completion: string, recipe: ReplayRecipe): ReplayKind {
  if (beginning === true) return 'beginning';
  if (exact !== true || recipe.exactRowsPerBatch === 0) return 'whole';
  return jsonObjectOf(completion) === null ? 'exact' : 'object';
}

/** See `ReplayRecipe.maxTokens`. */
function isWorthReplaying(sequence: TokenSequence, recipe: ReplayRecipe): boolean {
  const isLongAnswer = answerTokens(sequence) >= recipe.longAnswerTokens;
  return sequence.tokens.length <= (isLongAnswer ? recipe.maxTokensOfLongAnswers : recipe.maxTokens);
}

function answerTokens({ tokens, targetStart }: TokenSequence): number {
  return tokens.length - targetStart;
}

/** See `ReplayRecipe.tokensPerWeight`. */
function lengthWeight(sequence: TokenSequence, { tokensPerWeight, maxLengthWeight }: ReplayRecipe): number {
  const times = answerTokens(sequence) / tokensPerWeight;
  return Math.min(maxLengthWeight, Math.max(1, times));
}
