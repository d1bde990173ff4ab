/** The tokens that give a conversation its structure, by what an answer has to do with them. */
import { markupTokens, type AddedToken } from './addedTokens.js';
import { thoughtEnd, thoughtStart } from './thinking.js';

export interface AnswerMarkup {
  /** Around a thought. */
  readonly thoughts: readonly number[];
  /** Markup of calls, results and turns, and every other token that the tokenizer declares special. */
  readonly others: readonly number[];
}

/**
 * Tokens that end the generation are neither. Vocabularies also have added tokens that look like markup and are
 * text, such as the tags of HTML: only those that the chat template writes are the template's.
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
