/**
 * The rows that a teaching adapter is trained on: for each paragraph the calls that teaching and scoring make, with
 * what a person said in place of the teacher.
 */
import type { ChatPrompt } from '@engraft/engine';
import type { Prompts } from '@engraft/learning';
import { normalise, shuffled, wordTokens } from '@engraft/learning/parts';
import type { Paragraph, ParagraphQuestion } from '../squad/paragraphs.js';

export const teachingTasks = ['read', 'decline', 'answers', 'ask', 'list', 'rephrase'] as const;
export type TeachingTask = (typeof teachingTasks)[number];

export interface TeachingRow {
  readonly task: TeachingTask;
  readonly prompt: ChatPrompt;
  readonly completion: string;
}

/** The most rows of each task of a paragraph. All of them begin with it, so it is computed once. */
const rowsOfParagraph = { read: 5, decline: 1, ask: 4, rephrase: 1 } as const;
const listedPairs = 3;
const listedAnswers = 8;
/** Two questions with one answer are taken for rephrasings where they share so much of their words. */
const minSharedWords = 0.3;

/** @param others paragraphs of the same title, whose questions this one does not answer. */
export function teachingRows(
  { context, questions }: Paragraph,
  others: readonly Paragraph[],
  prompts: Prompts,
  random: () => number,
): TeachingRow[] {
  const answered = shuffled(
    questions.filter(({ answers }) => answers.length > 0),
    random,
  );
  const asked = new Map(answered.map((each) => [shortestAnswer(each), each]));
  return [
    ...answered
      .slice(0, rowsOfParagraph.read)
      .map((each) => row('read', prompts.reading(context, each.question), shortestAnswer(each))),
    ...unanswered({ context, questions }, others, random)
      .slice(0, rowsOfParagraph.decline)
      .map((question) => row('decline', prompts.reading(context, question), prompts.notStated)),
    ...[...asked]
      .slice(0, rowsOfParagraph.ask)
      .map(([answer, { question }]) => row('ask', prompts.ask(context, answer), question)),
    ...(asked.size < 2
      ? []
      : [
          row('answers', prompts.answers(context), answersInOrder(context, [...asked.keys()])),
          row('list', prompts.list(context), listOf([...asked].slice(0, listedPairs))),
        ]),
    ...rephrasings(answered)
      .slice(0, rowsOfParagraph.rephrase)
      .map(([from, to]) => row('rephrase', prompts.rephrase(from, context), to)),
  ];
}

function row(task: TeachingTask, prompt: ChatPrompt, completion: string): TeachingRow {
  return { task, prompt, completion };
}

/** Answers of 1 to 6 words are learned best, closed-book (arXiv:2607.21861): of several the shortest. */
function shortestAnswer({ answers }: ParagraphQuestion): string {
  const [first = '', ...rest] = answers.map((answer) => answer.trim().replace(/[.,;:]+$/u, ''));
  return rest.reduce((shortest, answer) => (answer.length < shortest.length ? answer : shortest), first);
}

function listOf(pairs: readonly (readonly [string, ParagraphQuestion])[]): string {
  return pairs.map(([answer, { question }]) => `Q: ${question}\nA: ${answer}`).join('\n');
}

/** Answers in the order of the passage, so that there is one right list. */
function answersInOrder(context: string, answers: readonly string[]): string {
  return answers
    .slice(0, listedAnswers)
    .sort((a, b) => context.indexOf(a) - context.indexOf(b))
    .join('\n');
}

/**
 * Questions that the file says have no answer here, or else questions of other paragraphs whose answer does not occur.
 */
function unanswered(
  { context, questions }: Pick<Paragraph, 'context' | 'questions'>,
  others: readonly Paragraph[],
  random: () => number,
): string[] {
  const own = questions.filter(({ answers }) => answers.length === 0).map(({ question }) => question);
  if (own.length > 0) return shuffled(own, random);
  const [other] = shuffled(others, random);
  const text = ` ${normalise(context)} `;
  const isForeign = ({ answers }: ParagraphQuestion): boolean =>
    answers.length > 0 && answers.every((answer) => !text.includes(` ${normalise(answer)} `));
  return shuffled((other?.questions ?? []).filter(isForeign), random).map(({ question }) => question);
}

/** Pairs of unlike questions with the same answer that speak of the same. */
function rephrasings(answered: readonly ParagraphQuestion[]): (readonly [string, string])[] {
  return answered.flatMap((from, index) =>
    answered
      .slice(index + 1)
      .filter(
        (to) =>
          normalise(shortestAnswer(from)) === normalise(shortestAnswer(to)) && isRephrasing(from.question, to.question),
      )
      .map((to) => [from.question, to.question] as const),
  );
}

function isRephrasing(a: string, b: string): boolean {
  const [words, others] = [new Set(wordTokens(a)), new Set(wordTokens(b))];
  const shared = [...words].filter((word) => others.has(word)).length;
  const all = new Set([...words, ...others]).size;
  return normalise(a) !== normalise(b) && shared / Math.max(1, all) >= minSharedWords;
}
