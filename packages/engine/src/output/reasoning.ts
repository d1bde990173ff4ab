/** What a model thinks before its answer is told apart from the answer. */
import type { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import { thoughtEnd as END, thoughtStart as START } from '../tokenizer/thinking.js';

/** Ends reasoning that the chat template has opened before anything is thought, as templates write an empty thought. */
export const noThought = `\n${END}\n\n`;

export interface ReasoningSplit {
  /** The output's text after the reasoning, or all of it when there is none. */
  readonly answer: string;
  /** Tokens up to the end of the reasoning, its tags included. */
  readonly reasoningTokens: number;
}

/** Only reasoning at the beginning counts; the tags further on are text like any other. */
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

/** How many of the first tokens it takes until their text contains `wanted`, which that of all of them does. */
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
