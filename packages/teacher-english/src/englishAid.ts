import type { TaughtPassage, TeachingAid } from '@engraft/learning';
import { agrees, type Fact } from '@engraft/learning/parts';
import { formOf } from './forms.js';
import { findCandidates } from './questions/candidates.js';
import { mentionOf } from './questions/contradictions.js';
import type { LookUp } from './questions/findOnce.js';

/** Finds answers by the rules, and makes questions of the words of each fact's sentence. */
export function englishAid(lookUp: LookUp): TeachingAid {
  return {
    async answers(passage) {
      const { candidates } = await lookUp(passage);
      // Rules know all of a cell, and ask for it better.
      const prose = candidates.filter(({ tabled }) => tabled === null);
      return prose.map(({ chunk, span }) => ({ chunk, answer: span.text }));
    },
    complete,
  };
}

async function complete({ text, chunks, told }: TaughtPassage, facts: readonly Fact[]): Promise<Fact[]> {
  const asked = facts.filter(({ forms }) => forms.length > 0);
  const answers = asked.map(({ answer }) => answer);
  const { candidates, contradicted } = await findCandidates(text, chunks, answers, told);
  const isContradicted = mentionOf(contradicted);
  return asked
    .filter(({ answer }) => !isContradicted(answer))
    .map((fact) => {
      const found = candidates.find(
        ({ sentence, span }) => sentence.start === fact.sentenceStart && agrees(span.text, fact.answer),
      );
      const words = (found?.keywords ?? []).map((question) => formOf(question, 'keywords'));
      return { ...fact, forms: [...fact.forms, ...words].filter(({ question }) => !isContradicted(question)) };
    });
}
