/** The batches of a training: which rows of the material each step shows. */
import type { TrainingExample } from '@engraft/engine';
import { rehearsalRows } from '../budget/plan.js';
import { mostlyBeginnings } from './beginnings.js';
import { deriveSeed, endlessRounds, randomNumbers } from '../random.js';
import type { Recipe } from '../recipe/recipe.js';
import type { Material, TaughtFact } from './material.js';

/**
 * Endless. Chance decides between questions and forms made of a sentence's words, so that the latter, which may be
 * many, get no more than their share. The items of each list take turns.
 */
function* formsInTurn(
  { questions, keywords }: TaughtFact,
  wordsShare: number,
  random: () => number,
): Generator<TrainingExample, undefined> {
  const asked = endlessRounds(questions, random);
  const worded = endlessRounds(keywords, random);
  const share = Math.min(wordsShare, keywords.length / (questions.length + keywords.length));
  while (questions.length + keywords.length > 0) {
    yield* take(questions.length === 0 || random() < share ? worded : asked, 1);
  }
  return undefined;
}

/** The parts of a recipe that decide what a batch is made of. */
export type BatchRecipe = Pick<Recipe, 'training' | 'replay'>;

/**
 * Endless batches of `pairsPerBatch` pairs, in which every fact occurs as often as any other. Replay and rehearsal rows
 * come beside them, and the earlier passages take turns.
 */
export function* batches(material: Material, seed: number, recipe: BatchRecipe): Generator<TrainingExample[], never> {
  const random = randomNumbers(deriveSeed(seed, 'batches'));
  const forms = material.facts.map((fact) =>
    mostlyBeginnings(formsInTurn(fact, recipe.training.wordsShare, random), recipe),
  );
  const facts = endlessRounds(forms, random);
  const replay = endlessRounds([...material.replay, ...material.known], random);
  const exact = endlessRounds([...material.exact, ...material.objects], random);
  const beginnings = endlessRounds(material.beginnings, random);
  const unknown = inTurn([material.unknown, material.renamed].map((rows) => endlessRounds(rows, random)));
  const earlierPairs = material.rehearsal.map((pairs) => mostlyBeginnings(endlessRounds(pairs, random), recipe));
  const passages = endlessRounds(earlierPairs, random);
  const rehearsed = rehearsalRows(material.rehearsal.length, recipe.replay);
  for (;;) {
    const pairs = take(facts, recipe.training.pairsPerBatch).flatMap((fact) => take(fact, 1));
    const earlier = take(passages, rehearsed).flatMap((passage) => take(passage, 1));
    yield [
      ...pairs,
      ...earlier,
      ...take(replay, recipe.replay.rowsPerBatch),
      ...take(exact, recipe.replay.exactRowsPerBatch),
      ...take(beginnings, recipe.replay.beginningRowsPerBatch),
      ...take(unknown, recipe.replay.unknownRowsPerBatch),
    ];
  }
}

/** The replay rows that this many batches show, each once. */
export function replayDrawn(material: Material, seed: number, steps: number, recipe: BatchRecipe): TrainingExample[] {
  const stream = batches(material, seed, recipe);
  const drawn = new Set(Array.from({ length: steps }, () => stream.next().value).flat());
  return [...material.replay, ...material.exact, ...material.beginnings].filter((row) => drawn.has(row));
}

/** One item of each list after the other. A list that has none is passed over. */
function* inTurn<Item>(lists: readonly Generator<Item, undefined>[]): Generator<Item, undefined> {
  for (;;) {
    const round = lists.flatMap((list) => take(list, 1));
    if (round.length === 0) return undefined;
    yield* round;
  }
}

function take<Item>(items: Generator<Item, undefined>, count: number): Item[] {
  const taken: Item[] = [];
  while (taken.length < count) {
    const next = items.next();
    if (next.done === true) break;
    taken.push(next.value);
  }
  return taken;
}

export function tokensOf(batch: readonly TrainingExample[]): number {
  return batch.reduce((sum, { sequence }) => sum + sequence.tokens.length, 0);
}
