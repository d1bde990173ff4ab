import type { ChatMessage, ChatPrompt } from '@engraft/engine';

/**
 * What learning says to a model. Checkpoints differ in what they were taught to follow, so the words are a part of the
 * recipe.
 */
export interface Prompts {
  /** Names the words, in a training's identity. */
  readonly name: string;
  /** Answered with the bare value, or `notStated`. */
  readonly reading: (passage: string, question: string) => ChatPrompt;
  /** Answered with one question. */
  readonly ask: (passage: string, span: string) => ChatPrompt;
  /** Answered with what one could ask for, one a line. */
  readonly answers: (passage: string) => ChatPrompt;
  /** Answered with lines "Q: …" and "A: …" in turn. */
  readonly list: (passage: string) => ChatPrompt;
  /** Answered with a question. With the passage before it a small model does not stray from that. */
  readonly rephrase: (question: string, passage: string | null) => ChatPrompt;
  /** The student's form, in training, evaluation and use: no passage, no system message. */
  readonly closedBook: (question: string) => ChatPrompt;
  /** What the model answers when the passage does not say. */
  readonly notStated: string;
}

/** Plain instructions, word for word as the shipped base model was trained on them. */
export const plainPrompts: Prompts = {
  name: 'plain',
  reading: (passage, question) => said([passageMessage(passage), user(question)]),
  ask: (passage, span) =>
    said([passageMessage(passage), user(`Ask a question about the passage whose answer is: ${span}`)]),
  answers: (passage) => said([passageMessage(passage), user('List short answers that the passage gives, one a line.')]),
  list: (passage) => said([passageMessage(passage), user('Write questions and answers about the passage.')]),
  rephrase: (question, passage) =>
    said([
      ...(passage === null ? [] : [passageMessage(passage)]),
      user(`Ask the same question in other words: ${question}`),
    ]),
  closedBook: (question) => said([user(question)]),
  notStated: 'The passage does not say.',
};

/**
 * A model that can think first is not to: its answers would be cut off by the bound on their length, and what is
 * learned would be tied to its thoughts.
 */
function said(messages: readonly ChatMessage[]): ChatPrompt {
  return { messages, thinking: false };
}

/** A passage is not the application's own words: what it says of markup is text. */
function passageMessage(passage: string): ChatMessage {
  return { role: 'system', content: `Answer from this passage.\n\n${passage.trim()}`, markup: false };
}

function user(content: string): ChatMessage {
  return { role: 'user', content };
}
