/**
 * The prompts of learning, word for word as the shipped base model was trained on them. They are plain
 * instructions, for other checkpoints to follow.
 */
import type { ChatMessage, ChatPrompt } from '@engraft/engine';

/** What the model answers when the passage does not say. */
export const notStated = 'The passage does not say.';

/** Answered with the bare value, or `notStated`. */
export function readingPrompt(passage: string, question: string): ChatPrompt {
  return said([passageMessage(passage), user(question)]);
}

/** The student's form, in training, evaluation and use: no passage, no system message. */
export function closedBookPrompt(question: string): ChatPrompt {
  return said([user(question)]);
}

/** Answered with one question. */
export function askPrompt(passage: string, span: string): ChatPrompt {
  return said([passageMessage(passage), user(`Ask a question about the passage whose answer is: ${span}`)]);
}

/** Answered with lines "Q: …" and "A: …" in turn. */
export function listPrompt(passage: string): ChatPrompt {
  return said([passageMessage(passage), user('Write questions and answers about the passage.')]);
}

/** Answered with a question. */
export function rephrasePrompt(question: string): ChatPrompt {
  return said([user(`Ask the same question in other words: ${question}`)]);
}

/**
 * A model that can think first is not to: its answers would be cut off by the bound on their length, and what is learned would be tied to
 * its thoughts.
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
