/** The tokens that structure a conversation, grouped by their role in an answer. */
import { markupTokens, type AddedToken } from './addedTokens.js';
import { thoughtEnd, thoughtStart } from './thinking.js';

export interface AnswerMarkup {
  /** The tokens around a thought. */
  readonly thoughts: readonly number[];
  /** The markup of calls, results and turns, and every other token that the tokenizer declares special. */
  readonly others: readonly number[];
}

/**
 * Tokens that end the generation belong to neither group. Vocabularies also have added tokens that look like markup but
 * are text, such as HTML tags. Only those that the chat template writes belong to the template.
 */
export function readAnswerMarkup(
  tokens: readonly AddedToken[],
  stopTokens: ReadonlySet<number>,
  templateWrites: (text: string) => boolean,
): AnswerMarkup {
  const isThought = ({ content }: AddedToken): boolean => content === thoughtStart || content === thoughtEnd;
  const structural = tokens.filter(
    ({ id, kind, content }) =>
      !stopTokens.has(id) &&
      (kind === 'control' || (kind === 'markup' && (markupTokens.has(content) || templateWrites(content)))),
  );
  return {
    thoughts: structural.filter(isThought).map(({ id }) => id),
    others: structural.filter((token) => !isThought(token)).map(({ id }) => id),
  };
}
