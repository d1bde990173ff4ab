import type { QuestionAnswer, Recipe, TaughtPassage, Teacher } from '@engraft/learning';
import { agrees, windowOfFact, wordTokens, type Form } from '@engraft/learning/parts';
import { isReadable } from './english/otherLanguages.js';
import { formOf } from './forms.js';
import { chooseCandidates, findCandidates, type Candidate } from './questions/candidates.js';
import { findOnce, type LookUp } from './questions/findOnce.js';
import { rules } from './rules.js';
import { confirm } from './teaching/confirm.js';
import { rephrasingsOf } from './teaching/rephrase.js';
import { teach } from './teaching/teach.js';
import { orderNats } from './teaching/wordOrder.js';

/**
 * Finds by rules what English sentences say, has base ask about it, and adds questions made by rule. It suits models
 * that are too small to teach alone.
 */
export function englishTeacher(recipe: Recipe, lookUp: LookUp = findOnce()): Teacher {
  return {
    name: 'english',

    async measure(passage) {
      const { candidates } = await lookUp(passage);
      return {
        factCount: candidates.length + rules.listedFactsPerChunk * passage.chunks.length,
        extraReads: templatesRead(candidates) / Math.max(1, candidates.length),
      };
    },

    async teach(calls, passage, plan, seed) {
      if (!isReadable(ownText(passage))) return { facts: [], understood: false, language_known: false };
      const { prompts, shares } = recipe;
      const nats = await orderNats(calls, passage.chunks, prompts, shares.teaching, passage.told);
      if (nats !== null && nats < rules.minOrderNats) return { facts: [], understood: false };
      const { candidates, contradicted } = await lookUp(passage);
      const chosen = { candidates: chooseCandidates(candidates, plan.factCount), contradicted };
      return { facts: await teach({ calls, passage, recipe, seed }, chosen, plan), understood: true };
    },

    confirm: (calls, passage, facts) => confirm({ calls, passage, recipe }, facts),

    reading: ({ chunks }, fact, question) => ({
      prompt: recipe.prompts.reading(windowOfFact(chunks, fact), question),
      adapter: null,
    }),

    async rephrase(calls, passage, pairs, seed) {
      const rephrased = await rephrasingsOf(calls, pairs, rules.goldRephrasings, seed, recipe);
      const answers = pairs.map(({ answer }) => answer);
      const { candidates } = await findCandidates(passage.text, passage.chunks, answers, passage.told);
      return pairs.map((pair, index): Form[] => [
        ...(rephrased[index] ?? []).map((question) => formOf(question, 'rephrased')),
        ...keywordsFor(candidates, pair).map((question) => formOf(question, 'keywords')),
      ]);
    },
  };
}

/** The passage without the sentences that were made of its tables and lists, which are always English. */
function ownText({ text, told }: TaughtPassage): string {
  if (told === undefined || told.size === 0) return text;
  return text
    .split('\n')
    .filter((line) => !told.has(line))
    .join('\n');
}

/** How many templates are read: the first wordings of every relation. */
function templatesRead(candidates: readonly Candidate[]): number {
  const relations = candidates.flatMap((candidate) => candidate.relations);
  return relations.reduce((sum, { questions }) => sum + Math.min(questions.length, rules.templatesTried), 0);
}

/** Keywords of the sentence that holds the answer and shares most words with the question. */
function keywordsFor(candidates: readonly Candidate[], { question, answer }: QuestionAnswer): readonly string[] {
  const asked = new Set(wordTokens(question));
  const shared = ({ sentence }: Candidate): number =>
    wordTokens(sentence.text).filter((word) => asked.has(word)).length;
  const holding = candidates.filter(({ span }) => agrees(span.text, answer));
  return holding.sort((a, b) => shared(b) - shared(a))[0]?.keywords ?? [];
}
