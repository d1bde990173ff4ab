/** Asks for the answers that the passage gives. */
import type { AdapterReference, GenerateRequest, GenerateResult } from '@engraft/engine';
import { questionKey, type Form } from '../../facts.js';
import type { MeteredCalls } from '../../budget/calls.js';
import type { Recipe } from '../../recipe/recipe.js';
import { questionIn } from '../../teaching/teacherText.js';
import type { TaughtPassage } from '../../teaching/teacher.js';
import { containsWords, sameAnswer } from '../../text/normalise.js';
import { modelTeacherSettings as settings } from './settings.js';

export interface Asking {
  readonly calls: MeteredCalls;
  readonly passage: TaughtPassage;
  readonly recipe: Recipe;
  readonly adapter: AdapterReference | null;
}

export interface WantedQuestion {
  /** Index of a chunk. */
  readonly chunk: number;
  readonly answer: string;
  readonly isGreedy: boolean;
  readonly seed: number;
}

/**
 * Returns questions in the order of `wanted`, and `null` if nothing likely was asked or there was no money under
 * `share`.
 */
export async function askFor(
  { calls, passage, recipe, adapter }: Asking,
  wanted: readonly WantedQuestion[],
  share: number,
): Promise<{ readonly questions: (string | null)[]; readonly isAnyAsked: boolean }> {
  const requests = wanted.map(({ chunk, answer, isGreedy, seed }): GenerateRequest => ({
    ...samplingOfQuestions,
    prompt: recipe.prompts.ask(passage.chunks[chunk]?.text ?? '', answer),
    adapter,
    ...(isGreedy ? { temperature: 0 } : {}),
    seed,
  }));
  const results = await calls.generate(requests, share);
  return { questions: results.map(likelyQuestion), isAnyAsked: results.some((result) => result !== null) };
}

export const samplingOfQuestions = {
  maxOutputTokens: settings.maxQuestionTokens,
  temperature: settings.questionTemperature,
  minP: settings.minQuestionP,
  wantsLogprob: true,
} as const;

/** `null` for a question that was cut off, or that the model itself finds unlikely. */
export function likelyQuestion(result: GenerateResult | null | undefined): string | null {
  if (result?.finishReason !== 'stop') return null;
  const { logprob = 0, usage } = result;
  return logprob >= settings.minQuestionLogprob * usage.outputTokens ? questionIn(result.text) : null;
}

/** `null` for a question that says nothing or gives its answer away, since it would teach nothing. */
export function formOf(answer: string, text: string, origin: keyof typeof ranks): Form | null {
  const question = text.trim();
  const isUsable =
    questionKey(question) !== '' &&
    !question.includes('\n') &&
    !sameAnswer(question, answer) &&
    !containsWords(question, answer);
  const rank = ranks[origin];
  return isUsable ? { question, origin, standing: 'question', testRank: rank, plainRank: rank } : null;
}

const ranks = { asked: 0, listed: 1, rephrased: 2 } as const;
