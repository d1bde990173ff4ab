import type { ChatMessage } from '../types.js';
import type { AddedToken } from './addedTokens.js';

/**
 * The text that a chat template writes around an answer when the conversation goes on. Mistral's template writes a
 * space before it.
 */
export interface AssistantTurn {
  /** The text between the rendered prompt and the answer. */
  readonly prefix: string;
  /** The text between the answer and `end`. */
  readonly suffix: string;
  readonly end: AddedToken;
  /** Whether the template replaces the white space around the answer by its own. */
  readonly strips: boolean;
}

export interface TurnReader {
  /** Renders a conversation up to where the assistant is to speak. */
  readonly render: (messages: readonly ChatMessage[]) => string;
  /** Splits a text at the added tokens in it. */
  readonly split: (text: string) => readonly (AddedToken | string)[];
  /** Each of these ends the generation. */
  readonly stopTokens: ReadonlySet<number>;
}

const [probeQuestion, probeAnswer, nextQuestion] = ['engraftquestion', 'engraftanswer', 'engraftnext'];

/**
 * Learns the turn from a conversation of words that no template contains. `null` if a finished turn differs from the
 * prompt and its answer, as with templates that open a thought and leave it out later, or if it does not end with a
 * stop token.
 */
export function readAssistantTurn({ render, split, stopTokens }: TurnReader): AssistantTurn | null {
  const historyOf = (answer: string): string =>
    render([user(probeQuestion), { role: 'assistant', content: answer }, user(nextQuestion)]);
  let opening: string | null;
  let history: string;
  let padded: string;
  try {
    opening = only(render([user(probeQuestion)]).split(probeQuestion));
    history = historyOf(probeAnswer);
    padded = historyOf(` ${probeAnswer}\n`);
  } catch {
    return null;
  }
  const finished = only(history.split(probeQuestion));
  if (opening === null || finished?.startsWith(opening) !== true) return null;
  const [prefix = '', rest, ...more] = finished.slice(opening.length).split(probeAnswer);
  const [tail = '', next] = rest?.split(nextQuestion) ?? [];
  if (more.length > 0 || next === undefined) return null;

  const parts = split(tail);
  const suffix = typeof parts[0] === 'string' ? parts[0] : '';
  const end = parts[suffix === '' ? 0 : 1];
  if (typeof end !== 'object' || !stopTokens.has(end.id)) return null;
  return { prefix, suffix, end, strips: prefix + suffix !== '' && padded === history };
}

function user(content: string): ChatMessage {
  return { role: 'user', content };
}

/** The text after a word that occurs once. */
function only([, after, ...more]: readonly string[]): string | null {
  return after === undefined || more.length > 0 ? null : after;
}
