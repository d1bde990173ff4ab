import type { Engine, TokenSequence, TrainingExample } from '@engraft/engine';
import { mapConcurrently } from './calls.js';
import { clippedQuestions } from './clip.js';
import { isOnlyTrained, questionKey } from './facts.js';
import { fingerprints } from './overlap.js';
import { closedBookPrompt } from './prompts.js';
import { replayPrompt } from './replay.js';
import { deriveSeed, endlessRounds, randomNumbers } from './random.js';
import { recipe } from './recipe.js';
import type { ScoringOutcome } from './outcomes.js';
import type { SplitFact } from './split.js';
import type { QuestionAnswer, Rehearsal, ReplayRow } from './types.js';

/** Everything that training may show, as token sequences; nothing of it shares a run of words with a held-out question. */
export interface Material {
  /** One list a fact: its forms. */
  readonly facts: readonly (readonly TrainingExample[])[];
  readonly dev: readonly TrainingExample[];
  /** Rows of the base model's own training. */
  readonly replay: readonly TrainingExample[];
  /** What the parent knew of the passage already; trained in turn with the replay rows. */
  readonly known: readonly TrainingExample[];
  /** One list an earlier passage: its pairs. */
  readonly rehearsal: readonly (readonly TrainingExample[])[];
}

export async function encodeMaterial(
  engine: Engine,
  split: ScoringOutcome,
  earlier: readonly Rehearsal[],
  replay: readonly ReplayRow[],
): Promise<Material> {
  const pair = async ({ question, answer }: QuestionAnswer, weight: number): Promise<TrainingExample> => ({
    sequence: await engine.encode(closedBookPrompt(question), answer),
    weight,
  });
  const leaks = leakTest(split);
  const facts = await mapConcurrently(split.facts, async (fact) => {
    const { answer, softTargets } = fact;
    const examples: TrainingExample[] = [];
    for (const question of trainedQuestions(fact, leaks)) {
      const example = await pair({ question, answer }, 1);
      const targetCount = example.sequence.tokens.length - example.sequence.targetStart;
      examples.push(
        recipe.useSoftTargets && softTargets?.length === targetCount ? { ...example, softTargets } : example,
      );
    }
    return examples;
  });
  const devPairs = split.facts.flatMap(({ answer, dev }) => dev.map(({ question }) => ({ question, answer })));
  const cleanReplay = replay.filter(({ messages }) => !messages.some(({ content }) => leaks(content)));
  const rows = await mapConcurrently(cleanReplay, async (row): Promise<TrainingExample> => {
    const { prompt, completion } = replayPrompt(row);
    const sequence = await engine.encode(prompt, completion);
    return { sequence, weight: recipe.replayWeight * lengthWeight(sequence) };
  });
  const usualRows = rows.filter(isWorthReplaying);
  return {
    facts: facts.filter((examples) => examples.length > 0),
    dev: await mapConcurrently(devPairs, (devPair) => pair(devPair, 1)),
    replay: usualRows.length > 0 ? usualRows : rows,
    known: await mapConcurrently(
      split.known.filter(({ question }) => !leaks(question)),
      (known) => pair(known, recipe.replayWeight),
    ),
    rehearsal: await mapConcurrently(rehearsalPairs(split, earlier), (ofPassage) =>
      mapConcurrently(ofPassage, (earlierPair) => pair(earlierPair, 1)),
    ),
  };
}

/** See `recipe.maxReplayTokens`. */
function isWorthReplaying({ sequence }: TrainingExample): boolean {
  const isLongAnswer = answerTokens(sequence) >= recipe.longReplayAnswerTokens;
  return sequence.tokens.length <= (isLongAnswer ? recipe.maxReplayTokensOfLongAnswers : recipe.maxReplayTokens);
}

function answerTokens({ tokens, targetStart }: TokenSequence): number {
  return tokens.length - targetStart;
}

/** See `recipe.replayTokensPerWeight`. */
function lengthWeight(sequence: TokenSequence): number {
  const times = answerTokens(sequence) / recipe.replayTokensPerWeight;
  return Math.min(recipe.maxReplayLengthWeight, Math.max(1, times));
}

/** The fact's forms; where they are few, with copies of its questions that have words missing, none near to a held-out question. */
export function trainedQuestions({ training }: SplitFact, leaks: (text: string) => boolean): string[] {
  const questions = training.filter((form) => !isOnlyTrained(form)).map(({ question }) => question);
  const forms = training.map(({ question }) => question);
  if (questions.length >= recipe.enoughForms) return forms;
  const copies = questions.flatMap((question) =>
    clippedQuestions(
      question,
      Math.ceil(recipe.clippedPerFact / questions.length),
      randomNumbers(deriveSeed(0, 'clip', question)),
    ),
  );
  return [...forms, ...copies.filter((copy) => !leaks(copy))];
}

/**
 * Earlier training pairs, a list a passage, except for questions that this passage answers anew: the latest passage is
 * right. Nor those that are too near to a held-out question, which would be answered from rehearsal rather than from what
 * was learned.
 */
function rehearsalPairs(split: ScoringOutcome, earlier: readonly Rehearsal[]): QuestionAnswer[][] {
  const asked = new Set(
    split.facts.flatMap(({ training, dev }) => [...training, ...dev].map(({ question }) => questionKey(question))),
  );
  const leaks = leakTest(split);
  const lists = earlier.map(({ training_pairs }) =>
    training_pairs.filter(({ question }) => !asked.has(questionKey(question)) && !leaks(question)),
  );
  return lists.filter((pairs) => pairs.length > 0);
}

/** Whether a text is too near to a held-out question, see `fingerprints`. */
function leakTest({ facts }: ScoringOutcome): (text: string) => boolean {
  const heldOut = new Set(
    facts.flatMap(({ validation }) => validation.flatMap(({ question }) => fingerprints(question))),
  );
  return (text) => fingerprints(text).some((key) => heldOut.has(key));
}

/**
 * Endless batches: `pairsPerBatch` pairs, every fact as often as any other and its forms in turn, with replay and
 * rehearsal rows beside them, the earlier passages in turn.
 */
export function* batches(material: Material, seed: number): Generator<TrainingExample[], never> {
  const random = randomNumbers(deriveSeed(seed, 'batches'));
  const forms = material.facts.map((examples) => endlessRounds(examples, random));
  const facts = endlessRounds(forms, random);
  const replay = endlessRounds([...material.replay, ...material.known], random);
  const earlierPairs = material.rehearsal.map((pairs) => endlessRounds(pairs, random));
  const passages = endlessRounds(earlierPairs, random);
  const rehearsed = rehearsalRows(material.rehearsal.length);
  for (;;) {
    const pairs = take(facts, recipe.pairsPerBatch).flatMap((fact) => take(fact, 1));
    const earlier = take(passages, rehearsed).flatMap((passage) => take(passage, 1));
    yield [...pairs, ...earlier, ...take(replay, recipe.replayPerBatch)];
  }
}

/** The replay rows that so many batches show, each once. */
export function replayDrawn(material: Material, seed: number, steps: number): TrainingExample[] {
  const stream = batches(material, seed);
  const drawn = new Set(Array.from({ length: steps }, () => stream.next().value).flat());
  return material.replay.filter((row) => drawn.has(row));
}

/** The more there is to remember, the more rows of a batch rehearse it. */
function rehearsalRows(earlierPassages: number): number {
  return Math.min(earlierPassages + 2, recipe.maxRehearsalPerBatch);
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
