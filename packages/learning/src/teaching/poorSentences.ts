/**
 * More questions where answers are sentences. A teacher asks of one sentence thirty times and of another never, and
 * reading back drops what it asked of a third. Then a sentence with few questions is hardly learned, and questions
 * about it get another one. So the teacher is asked about these sentences, one by one.
 */
import type { MeteredCalls } from '../budget/calls.js';
import type { SentenceQuestions } from '../outcomes.js';
import type { Recipe } from '../recipe/recipe.js';
import { sentenceFor, sentencesWith } from '../text/sentenceAnswers.js';
import type { Fact } from '../facts.js';
import type { TaughtPassage, Teacher } from './teacher.js';

/** A sentence that few questions ask for. */
export interface PoorSentence {
  readonly text: string;
  /** The sentence before it in its chunk, if there is one. */
  readonly before: string;
  /** How many questions are missing. */
  readonly missing: number;
}

/** `null` where answers are values, or the teacher cannot be asked so. */
export async function askAboutPoorSentences(
  calls: MeteredCalls,
  passage: TaughtPassage,
  facts: readonly Pick<Fact, 'answer' | 'forms'>[],
  teacher: Teacher,
  seed: number,
  { training: { answersWith, questionsPerSentence } }: Recipe,
): Promise<SentenceQuestions[] | null> {
  if (answersWith === 'values' || questionsPerSentence === 0 || teacher.askAbout === undefined) return null;
  const poor = poorSentences(passage, facts, questionsPerSentence);
  const asked = await teacher.askAbout(calls, poor, seed);
  const questions = new Map<string, string[]>();
  for (const [index, { text }] of poor.entries()) {
    for (const { question, answer } of asked[index] ?? []) {
      const part = sentenceFor(question, sentencesWith(answer, [{ sentences: [{ text }] }]));
      if (part !== null) questions.set(part, [...(questions.get(part) ?? []), question]);
    }
  }
  return [...questions].map(([sentence, ofSentence]) => ({ sentence, questions: ofSentence }));
}

function poorSentences(
  { chunks }: TaughtPassage,
  facts: readonly Pick<Fact, 'answer' | 'forms'>[],
  questionsPerSentence: number,
): PoorSentence[] {
  const answers = facts.flatMap(({ answer, forms }) => {
    const sentences = sentencesWith(answer, chunks);
    return forms.map(({ question }) => sentenceFor(question, sentences));
  });
  return chunks.flatMap(({ sentences }) =>
    sentences.flatMap(({ text }, index) => {
      const plain = text.replace(/\s+/gu, ' ');
      if (plain.trim() === '') return [];
      const asked = answers.filter((answer) => answer !== null && plain.includes(answer)).length;
      const missing = questionsPerSentence - asked;
      return missing > 0 ? [{ text, before: sentences[index - 1]?.text ?? '', missing }] : [];
    }),
  );
}
