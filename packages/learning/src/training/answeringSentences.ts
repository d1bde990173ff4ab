import type { Engine } from '@engraft/engine';
import { mapConcurrently } from '../budget/calls.js';
import { questionKey, type Form } from '../facts.js';
import type { ScoringOutcome, SentenceQuestions } from '../outcomes.js';
import type { Recipe } from '../recipe/recipe.js';
import type { Chunk } from '../text/chunk.js';
import type { ToLearn } from './material.js';
import { sentenceFor, sentencesWith } from '../text/sentenceAnswers.js';

/**
 * Gives each fact the sentences that may answer its questions. A fact keeps its value for an answer if none fits into
 * an answer of the recipe. Where sentences were asked about (`questionsPerSentence`), each of them is a fact, with all
 * questions that it answers, so that training shows one as often as any other. Returns `scoring` itself if answers are
 * values.
 */
export async function withSentenceAnswers(
  engine: Engine,
  scoring: ScoringOutcome,
  chunks: readonly Chunk[],
  { evaluating: { maxAnswerTokens }, prompts, training }: Recipe,
): Promise<ToLearn> {
  if (training.answersWith === 'values') return scoring;
  const fits = async (sentence: string): Promise<boolean> => {
    const { tokens, targetStart } = await engine.encode(prompts.closedBook(''), sentence);
    return tokens.length - targetStart <= maxAnswerTokens;
  };
  const facts = await mapConcurrently(scoring.facts, async (fact) => {
    const sentences = sentencesWith(fact.answer, chunks);
    const fitting = await mapConcurrently(sentences, fits);
    return { ...fact, sentences: sentences.filter((_, index) => fitting[index]) };
  });
  if (scoring.sentences === undefined) return { ...scoring, facts };
  const asked = await mapConcurrently(scoring.sentences, async (about) =>
    (await fits(about.sentence)) ? [about] : [],
  );
  return { ...scoring, facts: eachSentenceAFact(facts, asked.flat()) };
}

function eachSentenceAFact(facts: ToLearn['facts'], asked: readonly SentenceQuestions[]): ToLearn['facts'] {
  const forms = new Map<string, Map<string, Form>>();
  const add = (sentence: string, form: Form): void => {
    const ofSentence = forms.get(sentence) ?? new Map<string, Form>();
    const key = questionKey(form.question);
    if (!ofSentence.has(key)) ofSentence.set(key, form);
    forms.set(sentence, ofSentence);
  };
  const rest = facts.map((fact) => {
    const { sentences = [], training } = fact;
    if (sentences.length === 0) return fact;
    for (const form of training) add(sentenceFor(form.question, sentences) ?? fact.answer, form);
    return { ...fact, training: [] };
  });
  for (const { sentence, questions } of asked) for (const question of questions) add(sentence, askedForm(question));
  const ofSentences = [...forms].map(([sentence, ofSentence]) => ({
    answer: sentence,
    sentences: [sentence],
    training: [...ofSentence.values()],
    dev: [],
    validation: [],
    softTargets: null,
  }));
  return [...rest, ...ofSentences];
}

function askedForm(question: string): Form {
  return { question, origin: 'asked', standing: 'question', testRank: 0, plainRank: 0, unanswered: true };
}
