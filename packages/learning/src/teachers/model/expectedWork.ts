/**
 * Estimates how much a model that teaches itself reads and writes about a passage, in the calls of `proposing.ts`,
 * `confirming.ts` and `askingAbout.ts`.
 */
import type { Engine } from '@engraft/engine';
import { mapConcurrently } from '../../budget/calls.js';
import { sum } from '../../numbers.js';
import type { Recipe } from '../../recipe/recipe.js';
import type { TaughtPassage } from '../../teaching/teacher.js';
import { saidSentences } from '../../text/chunk.js';
import { windowOf } from '../../text/window.js';
import { modelTeacher } from './modelTeacher.js';
import { modelTeacherSettings as settings } from './settings.js';

export interface ExpectedTokens {
  /** Tokens that go through the model. The shared beginning of two prompts is read once. */
  readonly readTokens: number;
  readonly writtenTokens: number;
}

/** A teacher's calls, and the facts that are left after them. */
export interface ExpectedTeaching extends ExpectedTokens {
  readonly factCount: number;
  readonly sentenceCount: number;
}

/** How long prompts are with the checkpoint's tokenizer and template. */
export interface TokenCounts extends Pick<Engine, 'countTokens'> {
  describe(): Promise<{ readonly contextLength: number }>;
}

/**
 * Counts that depend on the model's answers, taken with SmolLM2-135M-Instruct and its teaching adapter, on five
 * paragraphs of 540 to 1,302 characters. `docs/experiments/` has the counts.
 */
const counted = {
  /** Shares of the planned facts: those proposed, and those left after reading back. */
  proposedShare: 0.73,
  taughtShare: 0.4,
  /** Rounds of lists until a round adds little. */
  listRounds: 2,
  /** Share of the asked questions that are likely and new. */
  distinctShare: 0.8,
  /**
   * Tokens of a prompt that are read beside passage and question: the wish and the template's marks. Counted when the
   * end of the passage was read again as well, so it is the most.
   */
  promptTokens: 14,
  /** Tokens written in one call. */
  sentenceListTokens: 14,
  listTokens: 50,
  pairsTokens: 90,
  questionTokens: 13,
  answerTokens: 5,
  /** Where sentences are asked about: the share of poor ones, and how often each of these is asked about. */
  poorShare: 0.7,
  askedAbout: 21,
};

export async function expectedOfModelTeacher(
  engine: TokenCounts,
  recipe: Recipe,
  passage: TaughtPassage,
): Promise<ExpectedTeaching> {
  const { chunks } = passage;
  const planned = Math.min((await modelTeacher(recipe, null).measure(passage)).factCount, recipe.teaching.maxFacts);
  const proposed = counted.proposedShare * planned;
  const factCount = Math.ceil(counted.taughtShare * planned);

  const lists = settings.answerListsPerRound * counted.listRounds * chunks.length;
  const pairs = settings.pairLists * chunks.length;
  const asked = proposed * (settings.askedPerFact + settings.rephrasedPerFact) + factCount * settings.askedAgain;
  const readBack = counted.distinctShare * asked;

  const prompt = await promptTokens(engine, recipe, passage);
  const sentenceCount = sum(chunks.map((chunk) => saidSentences(chunk).length));
  const sentenceLists = settings.sentenceLists * sentenceCount;
  const { answersWith, questionsPerSentence } = recipe.training;
  const isAsked = answersWith === 'sentences' && questionsPerSentence > 0;
  const poor = isAsked ? counted.poorShare * sentenceCount : 0;
  const poorLists = poor * settings.poorSentenceLists;
  const askedAbout = poor * counted.askedAbout;
  const scored = factCount * (prompt.passage + 2 * prompt.question + 2 * counted.answerTokens);
  return {
    readTokens:
      prompt.windows * (poor > 0 ? 2 : 1) +
      prompt.passages +
      (lists + pairs + asked + readBack + poorLists + askedAbout) * prompt.question +
      scored,
    writtenTokens:
      (sentenceLists + poorLists) * counted.sentenceListTokens +
      lists * counted.listTokens +
      pairs * counted.pairsTokens +
      (asked + askedAbout) * counted.questionTokens +
      readBack * counted.answerTokens,
    factCount,
    sentenceCount,
  };
}

export const typicalQuestion = 'What is the name of the place where it was first seen?';

interface PromptTokens {
  /** Tokens of all prompts about a sentence. Each prompt reads the sentence with what stands before it. */
  readonly windows: number;
  /** Tokens of all chunks, and of the longest one. Prompts about a chunk begin alike, so a chunk is read once. */
  readonly passages: number;
  readonly passage: number;
  /** Tokens of what follows the passage. */
  readonly question: number;
}

async function promptTokens(
  engine: TokenCounts,
  { prompts }: Recipe,
  { chunks }: TaughtPassage,
): Promise<PromptTokens> {
  const windows = chunks.flatMap((chunk) => saidSentences(chunk).map(({ start }) => windowOf(chunk, start)));
  const ofWindows = await mapConcurrently(windows, (window) => engine.countTokens(prompts.answers(window)));
  const tokensOf = (question: string): Promise<number> => engine.countTokens(prompts.reading('', question));
  const ofChunks = await mapConcurrently(chunks, ({ text }) => engine.countTokens(prompts.reading(text, '')));
  return {
    windows: sum(ofWindows),
    passages: sum(ofChunks),
    passage: Math.max(0, ...ofChunks),
    question: (await tokensOf(typicalQuestion)) - (await tokensOf('')) + counted.promptTokens,
  };
}
