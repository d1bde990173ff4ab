/** Separates a model's thoughts from its answer. */
import type { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import { thoughtEnd as END, thoughtStart as START } from '../tokenizer/thinking.js';

/** Ends a thought that the chat template has opened, in the way templates write an empty thought. */
export const noThought = `\n${END}\n\n`;

export interface ReasoningSplit {
  /** The text after the reasoning, or the whole text if there is none. */
  readonly answer: string;
  /** The number of tokens of the reasoning, tags included. */
  readonly reasoningTokens: number;
}

/** Only reasoning at the beginning counts. Later tags are ordinary text. */
export function splitReasoning(tokenizer: ChatTokenizer, output: readonly number[], opened: boolean): ReasoningSplit {
  const text = tokenizer.decode(output);
  if (!opened && !text.trimStart().startsWith(START)) return { answer: text, reasoningTokens: 0 };
  const end = text.indexOf(END);
  if (end < 0) return { answer: '', reasoningTokens: output.length };
  return {
    answer: text.slice(end + END.length).trimStart(),
    reasoningTokens: firstLengthContaining(tokenizer, output, END),
  };
}

/** The smallest number of leading tokens whose text contains `wanted`. The text of all tokens must contain it. */
function firstLengthContaining(tokenizer: ChatTokenizer, tokens: readonly number[], wanted: string): number {
  let tooFew = 0;
  let enough = tokens.length;
  while (enough - tooFew > 1) {
    const middle = (tooFew + enough) >> 1;
    if (tokenizer.decode(tokens.slice(0, middle)).includes(wanted)) enough = middle;
    else tooFew = middle;
  }
  return enough;
}
