/**
 * Asks about single sentences. With a sentence alone before it, a small model asks closer to it than with the whole
 * chunk. What it asks need not be true of the answer that it was given: the sentence is what will be learned.
 */
import type { GenerateRequest } from '@engraft/engine';
import { questionKey } from '../../facts.js';
import { deriveSeed } from '../../random.js';
import type { PoorSentence } from '../../teaching/poorSentences.js';
import type { QuestionAnswer } from '../../types.js';
import { bareAnswer, isAnswer, linesIn } from './answers.js';
import { formOf, likelyQuestion, samplingOfQuestions, type Asking } from './asking.js';
import { modelTeacherSettings as settings } from './settings.js';
import { spansOf } from './spans.js';

type AskingAbout = Omit<Asking, 'passage'> & { readonly seed: number };

/** Different questions about each sentence, with what each was asked for. */
export async function askAbout(asking: AskingAbout, poor: readonly PoorSentence[]): Promise<QuestionAnswer[][]> {
  const answers = await answersIn(asking, poor);
  const wanted = poor.flatMap((sentence, index) => questionsWanted(sentence, index, answers[index] ?? []));
  // Goes over the answers in rounds, so that the money ends evenly.
  wanted.sort((a, b) => a.round - b.round);
  const { recipe, adapter, calls, seed } = asking;
  const requests = wanted.map(({ text, answer, round }): GenerateRequest => ({
    ...samplingOfQuestions,
    prompt: recipe.prompts.ask(text, answer),
    adapter,
    ...(round === 0 ? { temperature: 0 } : {}),
    seed: deriveSeed(seed, 'ask about', text, answer, round),
  }));
  const results = await calls.generate(requests, recipe.shares.scoring);
  return poor.map((_, index) => {
    const asked = wanted.flatMap((one, at) => {
      const question = one.index === index ? likelyQuestion(results[at]) : null;
      const form = question === null ? null : formOf(one.answer, question, 'asked');
      return form === null ? [] : [{ question: form.question, answer: one.answer }];
    });
    return [...new Map(asked.map((pair) => [questionKey(pair.question), pair])).values()];
  });
}

/** Answers to ask for in each sentence: its own lists, filled up with runs of words. */
async function answersIn(
  { calls, recipe, adapter, seed }: AskingAbout,
  poor: readonly PoorSentence[],
): Promise<string[][]> {
  const lists = poor.flatMap(({ text }, index) =>
    Array.from({ length: settings.poorSentenceLists }, (_, round) => ({ text, index, round })),
  );
  const requests = lists.map(({ text, round }): GenerateRequest => ({
    prompt: recipe.prompts.answers(text),
    adapter,
    maxOutputTokens: settings.maxAnswersTokens,
    temperature: round === 0 ? 0 : settings.answersTemperature,
    seed: deriveSeed(seed, 'poor sentence', text, round),
  }));
  const results = await calls.generate(requests, recipe.shares.scoring);
  return poor.map((sentence, index) => {
    const listed = lists.flatMap((list, at) => (list.index === index ? linesIn(results[at]) : [])).map(bareAnswer);
    const answers = [...new Set(listed.filter((answer) => isAnswer(answer, sentence)))];
    if (answers.length >= settings.enoughPoorAnswers) return answers;
    return [...new Set([...answers, ...spansOf(sentence.text, settings.filledAnswers - answers.length)])];
  });
}

interface WantedQuestion {
  readonly index: number;
  readonly text: string;
  readonly answer: string;
  readonly round: number;
}

/** Every other question is asked with the sentence before it as well, which may say what its pronouns mean. */
function questionsWanted(
  { text, before, missing }: PoorSentence,
  index: number,
  answers: readonly string[],
): WantedQuestion[] {
  const asked = Math.ceil((settings.askedPerMissing * missing) / Math.max(1, answers.length));
  return answers.flatMap((answer) =>
    Array.from({ length: Math.max(2, asked) }, (_, round) => ({
      index,
      text: round % 2 === 0 ? text : `${before}${text}`,
      answer,
      round,
    })),
  );
}
