import type { Engine, TrainingExample } from '@engraft/engine';
import { mapConcurrently } from '../budget/calls.js';
import { clippedQuestions } from './clip.js';
import { encodeReplay, type EncodedReplay } from './encodeReplay.js';
import { withOpening } from './opening.js';
import { isOnlyTrained, isWorded, questionKey, type Form } from '../facts.js';
import { fingerprints } from '../teaching/overlap.js';
import { renamedQuestions, unknownThings } from './unknownRows.js';
import { sentenceFor } from '../text/sentenceAnswers.js';
import { deriveSeed, randomNumbers, spreadSample } from '../random.js';
import type { Recipe } from '../recipe/recipe.js';
import type { ScoringOutcome } from '../outcomes.js';
import type { SplitFact } from '../teaching/split.js';
import type { QuestionAnswer, Rehearsal, ReplayRow } from '../types.js';

/**
 * Everything that training may show, as token sequences. No question of it shares a run of words with a held-out one.
 */
export interface Material extends EncodedReplay {
  readonly facts: readonly TaughtFact[];
  readonly dev: readonly TrainingExample[];
  /** Questions about things that do not exist. */
  readonly unknown: readonly TrainingExample[];
  /** Questions that are trained, about names that do not exist. */
  readonly renamed: readonly TrainingExample[];
  /** Questions that the parent answered before. Training shows them in turn with the replay rows. */
  readonly known: readonly TrainingExample[];
  /** A list of pairs for each earlier passage. */
  readonly rehearsal: readonly (readonly TrainingExample[])[];
}

/** The outcome of scoring, with the sentences to answer with where answers are sentences. */
export interface ToLearn extends Omit<ScoringOutcome, 'facts'> {
  readonly facts: readonly (ScoringOutcome['facts'][number] & { readonly sentences?: readonly string[] })[];
}

/** A fact's forms; at least one. */
export interface TaughtFact {
  readonly questions: readonly TrainingExample[];
  /** Questions made of the words of the fact's own sentence. */
  readonly keywords: readonly TrainingExample[];
}

/** `Material` as texts. */
interface ChosenMaterial {
  readonly facts: readonly (Omit<ToLearn['facts'][number], 'training' | 'dev' | 'validation'> & TrainedQuestions)[];
  readonly dev: readonly (QuestionAnswer & { readonly sentences?: readonly string[] })[];
  readonly replay: readonly ReplayRow[];
  readonly known: readonly QuestionAnswer[];
  readonly unknown: readonly QuestionAnswer[];
  readonly renamed: readonly QuestionAnswer[];
  readonly rehearsal: readonly (readonly QuestionAnswer[])[];
}

function chooseMaterial(
  split: ToLearn,
  earlier: readonly Rehearsal[],
  replay: readonly ReplayRow[],
  recipe: Recipe,
): ChosenMaterial {
  const leaks = leakTest(split, recipe.split.overlapTokens);
  return {
    facts: split.facts.map((fact) => {
      const training = fact.training.filter(({ question }) => !leaks(question));
      return { ...fact, ...trainedQuestions({ training }, leaks, recipe) };
    }),
    dev: split.facts.flatMap(({ dev, ...fact }) => dev.map(({ question }) => ({ ...fact, question }))),
    replay: replay.filter(({ messages }) => !messages.some(({ content }) => leaks(content))),
    known: split.known.filter(({ question }) => !leaks(question)),
    ...unknownPairs(split, earlier, leaks, recipe),
    rehearsal: rehearsalPairs(split, earlier, leaks),
  };
}

interface TrainedQuestions {
  readonly questions: readonly string[];
  readonly keywords: readonly string[];
}

export async function encodeMaterial(
  engine: Engine,
  split: ToLearn,
  earlier: readonly Rehearsal[],
  replay: readonly ReplayRow[],
  recipe: Recipe,
): Promise<Material> {
  const pair = async ({ question, answer }: QuestionAnswer, weight: number): Promise<TrainingExample> => ({
    sequence: await engine.encode(recipe.prompts.closedBook(question), answer),
    weight,
  });
  const besidePairs = (asked: QuestionAnswer): Promise<TrainingExample> => pair(asked, recipe.replay.weight);
  const sentencePair = async (taught: QuestionAnswer): Promise<TrainingExample> =>
    withOpening(await pair(taught, 1), recipe.training.openingTokens);
  const chosen = chooseMaterial(split, earlier, replay, recipe);
  const facts = await mapConcurrently(chosen.facts, async ({ questions, keywords, answer, sentences, softTargets }) => {
    const taught = async (question: string): Promise<TrainingExample> => {
      const sentence = sentenceFor(question, sentences ?? []);
      if (sentence !== null) return sentencePair({ question, answer: sentence });
      const example = await pair({ question, answer }, 1);
      const targetCount = example.sequence.tokens.length - example.sequence.targetStart;
      return recipe.training.useSoftTargets && softTargets?.length === targetCount
        ? { ...example, softTargets }
        : example;
    };
    const inTurn = async (texts: readonly string[]): Promise<TrainingExample[]> => {
      const examples: TrainingExample[] = [];
      for (const text of texts) examples.push(await taught(text));
      return examples;
    };
    return { questions: await inTurn(questions), keywords: await inTurn(keywords) };
  });
  const encoded = await encodeReplay(engine, chosen.replay, recipe);
  // Without them, rows about unknown things would teach that nothing is known.
  const showsKnown = recipe.replay.beginningRowsPerBatch === 0 || encoded.beginnings.length > 0;
  return {
    facts: facts.filter(({ questions, keywords }) => questions.length + keywords.length > 0),
    dev: await mapConcurrently(chosen.dev, ({ question, answer, sentences = [] }) =>
      pair({ question, answer: sentenceFor(question, sentences) ?? answer }, 1),
    ),
    ...encoded,
    unknown: await mapConcurrently(showsKnown ? chosen.unknown : [], besidePairs),
    renamed: await mapConcurrently(showsKnown ? chosen.renamed : [], besidePairs),
    known: await mapConcurrently(chosen.known, besidePairs),
    rehearsal: await mapConcurrently(chosen.rehearsal, (ofPassage) => mapConcurrently(ofPassage, sentencePair)),
  };
}

/**
 * Held-out questions of the earlier passages, spread evenly over them. They must test those passages, so this leaves
 * out questions that the new passage answers too, and questions too close to anything trained here, which may be
 * another passage's rehearsal.
 */
export function retentionPairs(
  split: ScoringOutcome,
  earlier: readonly Rehearsal[],
  replay: readonly ReplayRow[],
  recipe: Recipe,
): QuestionAnswer[] {
  const { facts, dev, known, rehearsal, replay: rows } = chooseMaterial(split, earlier, replay, recipe);
  const keysOf = (text: string): string[] => fingerprints(text, recipe.split.overlapTokens);
  const trained = new Set(
    [
      ...facts.flatMap(({ questions, keywords }) => [...questions, ...keywords]),
      ...[...dev, ...known, ...rehearsal.flat()].map(({ question }) => question),
      ...(split.sentences ?? []).flatMap(({ questions }) => questions),
      ...rows.flatMap(({ messages }) => messages.map(({ content }) => content)),
    ].flatMap(keysOf),
  );
  const asked = new Set(
    split.facts.flatMap(({ validation }) => validation.map(({ question }) => questionKey(question))),
  );
  const pairs = earlier.flatMap(({ validation_pairs }) => validation_pairs);
  return spreadSample(
    pairs.filter(
      ({ question }) => !asked.has(questionKey(question)) && !keysOf(question).some((key) => trained.has(key)),
    ),
    recipe.evaluating.maxRetentionPairs,
  );
}

/** See `ReplayRecipe.unknownRowsPerBatch`. */
function unknownPairs(
  { facts, known }: ScoringOutcome,
  earlier: readonly Rehearsal[],
  leaks: (text: string) => boolean,
  { prompts, replay }: Recipe,
): Pick<ChosenMaterial, 'unknown' | 'renamed'> {
  if (replay.unknownRowsPerBatch === 0) return { unknown: [], renamed: [] };
  const forms = facts.flatMap(({ training }) => training);
  const pairs = [...known, ...earlier.flatMap(({ training_pairs }) => training_pairs)];
  const taught = [
    ...facts.map(({ answer }) => answer),
    ...[...forms, ...pairs].map(({ question }) => question),
    ...pairs.map(({ answer }) => answer),
  ].join('\n');
  const questions = forms.filter((form) => !isOnlyTrained(form)).map(({ question }) => question);
  const unanswered = (texts: readonly string[]): QuestionAnswer[] =>
    texts.filter((text) => !leaks(text)).map((question) => ({ question, answer: prompts.unknown }));
  const renamed = replay.renamesQuestions ? renamedQuestions(questions, taught) : [];
  return { unknown: unanswered(unknownThings(taught)), renamed: unanswered(renamed) };
}

/**
 * The fact's forms. If there are few questions, copies with words missing join them, except those too close to a
 * held-out question.
 */
export function trainedQuestions(
  { training }: Pick<SplitFact, 'training'>,
  leaks: (text: string) => boolean,
  recipe: Recipe,
): TrainedQuestions {
  const textsOf = (forms: readonly Form[]): string[] => forms.map(({ question }) => question);
  const keywords = textsOf(training.filter(isWorded));
  const forms = textsOf(training.filter((form) => !isWorded(form)));
  const questions = textsOf(training.filter((form) => !isOnlyTrained(form)));
  if (questions.length >= recipe.teaching.enoughForms) return { questions: forms, keywords };
  const copies = questions.flatMap((question) =>
    clippedQuestions(
      question,
      Math.ceil(recipe.training.clippedPerFact / questions.length),
      randomNumbers(deriveSeed(0, 'clip', question)),
    ),
  );
  return { questions: [...forms, ...copies.filter((copy) => !leaks(copy))], keywords };
}

/**
 * Earlier training pairs, a list for each passage. Questions that the new passage answers too are left out, since the
 * latest passage is right. So are those too close to a held-out question, which would then be answered from rehearsal
 * rather than from what was learned.
 */
function rehearsalPairs(
  split: ScoringOutcome,
  earlier: readonly Rehearsal[],
  leaks: (text: string) => boolean,
): QuestionAnswer[][] {
  const asked = new Set(
    split.facts.flatMap(({ training, dev }) => [...training, ...dev].map(({ question }) => questionKey(question))),
  );
  const lists = earlier.map(({ training_pairs }) =>
    training_pairs.filter(({ question }) => !asked.has(questionKey(question)) && !leaks(question)),
  );
  return lists.filter((pairs) => pairs.length > 0);
}

/** Whether a text is too close to a held-out question, see `fingerprints`. */
function leakTest({ facts }: ScoringOutcome, overlapTokens: number): (text: string) => boolean {
  const heldOut = new Set(
    facts.flatMap(({ validation }) => validation.flatMap(({ question }) => fingerprints(question, overlapTokens))),
  );
  return (text) => fingerprints(text, overlapTokens).some((key) => heldOut.has(key));
}
