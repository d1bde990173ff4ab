import type { Paragraph } from '../squad/paragraphs.js';
import type { PassageEntry } from './passageSet.js';

/** The length of a passage in the API, in UTF-16 units. */
const [shortest, longest] = [20, 16_000];

/**
 * The paragraphs that can be learned and asked about. Each has a passage's length and a question that it answers. Each
 * question has one phrasing, so learning `gold` leaves none to ask.
 */
export function squadPassages(paragraphs: readonly Paragraph[]): PassageEntry[] {
  const countOf = new Map<string, number>();
  return paragraphs.flatMap(({ title, context, questions }): PassageEntry[] => {
    const name = idPart(title);
    const number = (countOf.get(name) ?? 0) + 1;
    countOf.set(name, number);
    const answered = questions.filter(({ answers }) => answers.length > 0);
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
