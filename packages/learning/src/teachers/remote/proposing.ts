/** How a remote model finds what to ask for in a passage. In scoring, the learning model reads all of it back. */
import type { Fact } from '../../facts.js';
import type { TeachingPlan } from '../../budget/plan.js';
import type { MeteredCalls } from '../../budget/calls.js';
import { askRemote, type RemoteModel, type RemoteRequest } from '../../budget/remoteModel.js';
import { deriveSeed } from '../../random.js';
import type { Recipe } from '../../recipe/recipe.js';
import type { TaughtPassage } from '../../teaching/teacher.js';
import type { Chunk } from '../../text/chunk.js';
import type { QuestionAnswer } from '../../types.js';
import { addForm, draftOf, factsOf, type Draft } from '../model/drafts.js';
import { pairsIn } from './pairs.js';
import { listPrompt, rewritingPrompt } from './prompts.js';
import { remoteTeacherSettings as settings } from './settings.js';

export interface RemoteProposing {
  readonly calls: MeteredCalls;
  readonly passage: TaughtPassage;
  readonly recipe: Recipe;
  readonly model: RemoteModel;
  readonly seed: number;
}

/**
 * Returns at most `plan.factCount` facts, those that most lists name first. `null` means that there was no money for
 * any.
 */
export async function proposeRemotely(proposing: RemoteProposing, plan: TeachingPlan): Promise<Fact[] | null> {
  const drafts = new Map<string, Draft>();
  if (!(await listPairs(proposing, drafts))) return null;
  for (let round = 0; round < settings.rewritings; round++) {
    await rewriteEach(proposing, mostNamed(drafts, plan.factCount), round, drafts);
  }
  return factsOf(proposing.passage, mostNamed(drafts, plan.factCount));
}

/** The drafts that have questions, those that most lists name first. */
function mostNamed(drafts: ReadonlyMap<string, Draft>, count: number): Draft[] {
  const asked = [...drafts.values()].filter(({ forms }) => forms.size > 0);
  return asked.sort((a, b) => b.named - a.named).slice(0, count);
}

/** Lists pairs of each chunk until a list has hardly anything new. `false` means that there was no money. */
async function listPairs(proposing: RemoteProposing, drafts: Map<string, Draft>): Promise<boolean> {
  const { calls, passage, recipe, model, seed } = proposing;
  let isAnyAsked = false;
  let open = passage.chunks.map((chunk, index) => ({ chunk, index }));
  for (let round = 0; round < settings.maxLists && open.length > 0; round++) {
    const requests = open.map(({ chunk, index }): RemoteRequest => ({
      messages: listPrompt(chunk.text, questionsOf(drafts, index)),
      maxTokens: settings.maxListTokens,
      temperature: round === 0 ? 0 : settings.laterTemperature,
      seed: deriveSeed(seed, 'remote list', round, index),
    }));
    const texts = await askRemote(calls, model, requests, recipe.shares.teaching);
    isAnyAsked ||= texts.some((text) => text !== null);
    open = open.filter(({ chunk, index }, at) => {
      const pairs = pairsIn(texts[at] ?? '', settings.maxListTokens);
      const before = drafts.size;
      for (const pair of pairs) addPair(drafts, chunk, index, pair, 'listed');
      const fresh = drafts.size - before;
      return fresh > 0 && fresh >= settings.minFreshShare * pairs.length;
    });
  }
  return isAnyAsked;
}

function questionsOf(drafts: ReadonlyMap<string, Draft>, index: number): string[] {
  const questions = [...drafts.values()]
    .filter(({ chunk }) => chunk === index)
    .flatMap(({ forms }) => [...forms.values()]);
  return questions.slice(-settings.maxShown).map(({ question }) => question);
}

/** Asks other questions about the chosen drafts. A question with another answer of the chunk belongs to that answer. */
async function rewriteEach(
  { calls, passage, recipe, model, seed }: RemoteProposing,
  chosen: readonly Draft[],
  round: number,
  drafts: Map<string, Draft>,
): Promise<void> {
  const groups = passage.chunks.flatMap((chunk, index) =>
    inGroups(chosen.filter((draft) => draft.chunk === index)).map((group) => ({
      chunk,
      index,
      pairs: group.map((draft) => pairOf(draft, round)),
    })),
  );
  const requests = groups.map(({ chunk, pairs }, number): RemoteRequest => ({
    messages: rewritingPrompt(chunk.text, pairs),
    maxTokens: settings.maxRewritingTokens,
    temperature: settings.laterTemperature,
    seed: deriveSeed(seed, 'remote rewriting', round, number),
  }));
  const texts = await askRemote(calls, model, requests, recipe.shares.teaching);
  for (const [at, { chunk, index }] of groups.entries()) {
    for (const pair of pairsIn(texts[at] ?? '', settings.maxRewritingTokens)) {
      addPair(drafts, chunk, index, pair, 'rephrased');
    }
  }
}

/** A fact's questions take turns, so that the same one is not rewritten every time. */
function pairOf({ answer, forms }: Draft, round: number): QuestionAnswer {
  const questions = [...forms.values()].map(({ question }) => question);
  return { answer, question: questions[round % questions.length] ?? '' };
}

function inGroups(drafts: readonly Draft[]): Draft[][] {
  const { pairsPerRewriting } = settings;
  const count = Math.ceil(drafts.length / pairsPerRewriting);
  return Array.from({ length: count }, (_, at) => drafts.slice(at * pairsPerRewriting, (at + 1) * pairsPerRewriting));
}

function addPair(
  drafts: Map<string, Draft>,
  chunk: Chunk,
  index: number,
  { question, answer }: QuestionAnswer,
  origin: 'listed' | 'rephrased',
): void {
  const draft = draftOf(drafts, chunk, index, answer);
  if (draft !== null && draft.forms.size < settings.maxQuestions) addForm(draft, question, origin);
}
