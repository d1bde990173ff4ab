import type { AdapterReference, SequenceScore } from '@engraft/engine';
import { isTrusted, type Fact } from '../facts.js';
import { mapConcurrently, type MeteredCalls, type ScoreCall } from '../budget/calls.js';
import { mean } from '../numbers.js';
import type { Recipe } from '../recipe/recipe.js';
import type { TaughtPassage, Teacher } from './teacher.js';

/** A fact that the teacher confirmed, and what the passage adds to it. */
export interface ScoredFact extends Fact {
  /** Nats a token that the passage adds to the answer's mean log-probability, or `null` if it was not measured. */
  readonly gainNats: number | null;
  /** The teacher's alternatives at each token of the answer, including the end of turn. */
  readonly softTargets: SequenceScore['topK'] | null;
}

/**
 * Compares the teacher with the passage to the parent without it. It measures one question of each fact, since all
 * questions of a fact have the same answer.
 */
export async function measureGain(
  calls: MeteredCalls,
  passage: TaughtPassage,
  facts: readonly Fact[],
  parent: AdapterReference | null,
  teacher: Teacher,
  { prompts, teaching, shares }: Recipe,
): Promise<ScoredFact[]> {
  const requests = await mapConcurrently(facts, async (fact): Promise<ScoreCall[]> => {
    const question = fact.forms.find(isTrusted)?.question ?? '';
    const { prompt, adapter } = teacher.reading(passage, fact, question);
    const reading = await calls.engine.encode(prompt, fact.answer);
    const closedBook = await calls.engine.encode(prompts.closedBook(question), fact.answer);
    return [
      { sequence: reading, adapter, topK: teaching.softTargetK },
      { sequence: closedBook, adapter: parent, topK: 0 },
    ];
  });
  const scores = await calls.score(requests.flat(), shares.scoring);
  return facts.map((fact, index) => {
    const withPassage = scores[2 * index] ?? null;
    const without = scores[2 * index + 1] ?? null;
    const gainNats = withPassage && without ? mean(withPassage.logprobs) - mean(without.logprobs) : null;
    return { ...fact, gainNats, softTargets: withPassage?.greedy === true ? withPassage.topK : null };
  });
}
