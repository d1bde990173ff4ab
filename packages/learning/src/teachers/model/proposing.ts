/** How a model finds what to ask for in a passage, and asks for it. Scoring reads all of it back. */
import type { GenerateRequest } from '@engraft/engine';
import type { Fact } from '../../facts.js';
import type { TeachingPlan } from '../../budget/plan.js';
import { deriveSeed } from '../../random.js';
import { parseList } from '../../teaching/teacherText.js';
import { saidSentences, type Chunk } from '../../text/chunk.js';
import { windowOf } from '../../text/window.js';
import type { TeachingAid } from './aid.js';
import { linesIn } from './answers.js';
import { askFor, likelyQuestion, samplingOfQuestions, type Asking } from './asking.js';
import { addForm, draftOf, factsOf, type Draft } from './drafts.js';
import { modelTeacherSettings as settings } from './settings.js';

export interface Proposing extends Asking {
  readonly seed: number;
  readonly aid: TeachingAid | null;
}

/**
 * Returns at most `plan.factCount` facts, those that most lists name first. `null` means that there was no money for
 * any.
 */
export async function proposeFacts(proposing: Proposing, plan: TeachingPlan): Promise<Fact[] | null> {
  const drafts = new Map<string, Draft>();
  if (!(await listOfSentences(proposing, drafts))) return null;
  for (let round = 0; round < settings.maxRounds; round++) {
    const before = drafts.size;
    const listed = await listAnswers(proposing, round, drafts);
    if (drafts.size - before < settings.minFreshShare * listed || listed === 0) break;
  }
  await listPairs(proposing, drafts);
  await addAnswersOfAid(proposing, drafts);
  const chosen = [...drafts.values()].sort((a, b) => b.named - a.named).slice(0, plan.factCount);
  const isAsked = await askForEach(proposing, chosen);
  if (chosen.length > 0 && !isAsked) return null;
  await rephraseEach(proposing, chosen);
  return factsOf(proposing.passage, chosen);
}

/**
 * Lists answers for each sentence, with what stands before it, so that no sentence is passed over. `false` means that
 * there was no money.
 */
async function listOfSentences(
  { calls, passage, recipe, adapter, seed }: Proposing,
  drafts: Map<string, Draft>,
): Promise<boolean> {
  const wanted = rounds(settings.sentenceLists).flatMap((round) =>
    passage.chunks.flatMap((chunk, index) => saidSentences(chunk).map(({ start }) => ({ chunk, index, start, round }))),
  );
  const requests = wanted.map(({ chunk, index, start, round }): GenerateRequest => ({
    prompt: recipe.prompts.answers(windowOf(chunk, start)),
    adapter,
    maxOutputTokens: settings.maxAnswersTokens,
    temperature: round === 0 ? 0 : settings.answersTemperature,
    seed: deriveSeed(seed, 'sentence', index, start, round),
  }));
  const results = await calls.generate(requests, settings.listingShare * recipe.shares.teaching);
  for (const [at, { chunk, index }] of wanted.entries()) {
    for (const answer of linesIn(results[at])) draftOf(drafts, chunk, index, answer);
  }
  return results.some((result) => result !== null);
}

/** Lists several times for each chunk what one could ask for. Returns how many answers the lists have. */
async function listAnswers(
  { calls, passage, recipe, adapter, seed }: Proposing,
  round: number,
  drafts: Map<string, Draft>,
): Promise<number> {
  const wanted = perChunk(passage.chunks, settings.answerListsPerRound);
  const requests = wanted.map(({ chunk, index, number }): GenerateRequest => ({
    prompt: recipe.prompts.answers(chunk.text),
    adapter,
    maxOutputTokens: settings.maxAnswersTokens,
    temperature: round + number === 0 ? 0 : settings.answersTemperature,
    seed: deriveSeed(seed, 'answers', round, index, number),
  }));
  const results = await calls.generate(requests, settings.listingShare * recipe.shares.teaching);
  let listed = 0;
  for (const [at, { chunk, index }] of wanted.entries()) {
    for (const answer of linesIn(results[at])) if (draftOf(drafts, chunk, index, answer) !== null) listed++;
  }
  return listed;
}

async function listPairs(
  { calls, passage, recipe, adapter, seed }: Proposing,
  drafts: Map<string, Draft>,
): Promise<void> {
  const wanted = perChunk(passage.chunks, settings.pairLists);
  const requests = wanted.map(({ chunk, index, number }): GenerateRequest => ({
    prompt: recipe.prompts.list(chunk.text),
    adapter,
    maxOutputTokens: settings.maxPairsTokens,
    temperature: number === 0 ? 0 : settings.pairsTemperature,
    seed: deriveSeed(seed, 'pairs', index, number),
  }));
  const results = await calls.generate(requests, settings.listingShare * recipe.shares.teaching);
  for (const [at, { chunk, index }] of wanted.entries()) {
    for (const { question, answer } of parseList(results[at]?.text ?? '')) {
      const draft = draftOf(drafts, chunk, index, answer);
      if (draft !== null) addForm(draft, question, 'listed');
    }
  }
}

async function addAnswersOfAid({ passage, aid }: Proposing, drafts: Map<string, Draft>): Promise<void> {
  for (const { chunk: index, answer } of (await aid?.answers(passage)) ?? []) {
    const chunk = passage.chunks[index];
    if (chunk !== undefined) draftOf(drafts, chunk, index, answer);
  }
}

async function askForEach(proposing: Proposing, drafts: readonly Draft[]): Promise<boolean> {
  // Goes over the facts in rounds, so that the money ends evenly.
  const wanted = rounds(settings.askedPerFact).flatMap((round) => drafts.map((draft) => ({ draft, round })));
  const { questions, isAnyAsked } = await askFor(
    proposing,
    wanted.map(({ draft: { chunk, answer }, round }) => ({
      chunk,
      answer,
      isGreedy: round === 0,
      seed: deriveSeed(proposing.seed, 'ask', round, chunk, answer),
    })),
    proposing.recipe.shares.teaching,
  );
  for (const [at, { draft }] of wanted.entries()) addForm(draft, questions[at] ?? null, 'asked');
  return isAnyAsked;
}

/** Asks the first questions in other words. */
async function rephraseEach(
  { calls, passage, recipe, adapter, seed }: Proposing,
  drafts: readonly Draft[],
): Promise<void> {
  const wanted = rounds(settings.rephrasedPerFact).flatMap((round) =>
    drafts.flatMap((draft) => {
      const sources = [...draft.forms.values()];
      const source = sources[round % Math.max(1, sources.length)];
      return source === undefined ? [] : [{ draft, round, question: source.question }];
    }),
  );
  const requests = wanted.map(({ draft, round, question }): GenerateRequest => ({
    prompt: recipe.prompts.rephrase(question, passage.chunks[draft.chunk]?.text ?? ''),
    adapter,
    ...samplingOfQuestions,
    seed: deriveSeed(seed, 'rephrase', round, draft.chunk, question),
  }));
  const results = await calls.generate(requests, recipe.shares.teaching);
  for (const [at, { draft }] of wanted.entries()) addForm(draft, likelyQuestion(results[at]), 'rephrased');
}

function perChunk(
  chunks: readonly Chunk[],
  count: number,
): { readonly chunk: Chunk; readonly index: number; readonly number: number }[] {
  return rounds(count).flatMap((number) => chunks.map((chunk, index) => ({ chunk, index, number })));
}

function rounds(count: number): number[] {
  return Array.from({ length: count }, (_, round) => round);
}
