import type { Paragraph } from '../squad/paragraphs.js';
import type { PassageEntry } from './passageSet.js';

/** The lengths of a passage that the API takes, in UTF-16 units. */
const [shortest, longest] = [20, 16_000];

/**
 * The paragraphs that can be learned and asked about: of a passage's length, with a question that they answer. Each
 * question is one phrasing, so of learning `gold` none is left to ask.
 */
export function squadPassages(paragraphs: readonly Paragraph[]): PassageEntry[] {
  const countOf = new Map<string, number>();
  return paragraphs.flatMap(({ title, context, questions }): PassageEntry[] => {
    const name = idPart(title);
    const number = (countOf.get(name) ?? 0) + 1;
    countOf.set(name, number);
    const answered = questions.filter(({ question, answers }) => question !== '' && answers.length > 0);
    if (answered.length === 0 || context.length < shortest || context.length > longest) return [];
    return [
      {
        id: `${name}-${number}`,
        kind: 'squad',
        passage: context,
        questions: answered.map(({ question, answers }) => ({ phrasings: [question], answers })),
      },
    ];
  });
}

/** Part of an id. With a number behind it, the id has at most the 64 characters that are allowed. */
function idPart(title: string): string {
  return title.replace(/[^\w.-]+/gu, '_').slice(0, 56) || 'untitled';
}
