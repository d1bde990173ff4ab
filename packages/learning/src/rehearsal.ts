import { isTrusted } from './facts.js';
import type { ScoringOutcome } from './outcomes.js';
import type { Recipe } from './recipe/recipe.js';
import type { ScoredFact } from './teaching/gain.js';
import type { QuestionAnswer, Rehearsal } from './types.js';

/** Sentences of the passage are not kept. Words of its sentences are kept only if nothing else asks for the fact. */
export function rehearsalOf({ facts }: ScoringOutcome, { training: { answersWith } }: Recipe): Rehearsal {
  const pairs = (use: 'training' | 'validation'): QuestionAnswer[] =>
    facts.flatMap((fact) => questionsOf({ answer: fact.answer, forms: fact[use] }));
  return { answers_with: answersWith, training_pairs: pairs('training'), validation_pairs: pairs('validation') };
}

export function questionsOf({ answer, forms }: Pick<ScoredFact, 'answer' | 'forms'>): QuestionAnswer[] {
  const own = forms.filter((form) => isTrusted(form) && form.quoted !== true);
  return own.map(({ question }) => ({ question, answer }));
}
