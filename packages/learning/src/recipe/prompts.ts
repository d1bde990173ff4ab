import type { ChatMessage, ChatPrompt } from '@engraft/engine';

/**
 * The words in which learning asks a model. Checkpoints were trained to follow different ones, so they are part of the
 * recipe.
 */
export interface Prompts {
  /** Names the words in the identity of a training. */
  readonly name: string;
  /** The reply is the bare value, or `notStated`. */
  readonly reading: (passage: string, question: string) => ChatPrompt;
  /** The reply is one question. */
  readonly ask: (passage: string, span: string) => ChatPrompt;
  /** The reply lists what one could ask for, one item a line. */
  readonly answers: (passage: string) => ChatPrompt;
  /** The reply has lines "Q: …" and "A: …" in turn. */
  readonly list: (passage: string) => ChatPrompt;
  /** The reply is a question. A small model does not stray from the passage if it stands before the question. */
  readonly rephrase: (question: string, passage: string | null) => ChatPrompt;
  /** The form of the student, in training, evaluation and use: no passage, and no system message. */
  readonly closedBook: (question: string) => ChatPrompt;
  /** The answer to a question about something that the model does not know. */
  readonly unknown: string;
  /** The model's answer if the passage does not say. */
  readonly notStated: string;
}

/** Plain instructions, word for word as the shipped base model was trained on them. */
export const plainPrompts: Prompts = {
  name: 'plain',
  reading: afterPassage,
  ask: (passage, span) => afterPassage(passage, `Ask a question about the passage whose answer is: ${span}`),
  answers: (passage) => afterPassage(passage, 'List short answers that the passage gives, one a line.'),
  list: (passage) => afterPassage(passage, 'Write questions and answers about the passage.'),
  rephrase: (question, passage) => {
    const wish = `Ask the same question in other words: ${question}`;
    return passage === null ? said([user(wish)]) : afterPassage(passage, wish);
  },
  closedBook: (question) => said([user(question)]),
  unknown: 'I do not know.',
  notStated: 'The passage does not say.',
};

/**
 * For models that were trained to follow instructions. One message holds the passage and what is wanted, in plain
 * words. The passage comes first, so that all prompts about it begin alike and it is read once.
 */
export const instructedPrompts: Prompts = {
  name: 'instructed',
  reading: (passage, question) =>
    about(passage, `Answer the question about the text in a few words.\n\nQuestion: ${question}`),
  ask: (passage, span) => about(passage, `Write one question about the text whose answer is "${span}".`),
  answers: (passage) =>
    about(passage, 'List the names, dates, numbers and other short facts of the text as it says them, one a line.'),
  list: (passage) =>
    about(passage, 'Write questions about the text, each with its short answer, as lines "Q: …" and "A: …".'),
  rephrase: (question, passage) => {
    const wish = `Ask the same question in other words: ${question}`;
    return passage === null ? said([user(wish)]) : about(passage, wish);
  },
  closedBook: plainPrompts.closedBook,
  unknown: plainPrompts.unknown,
  notStated: 'The text does not say.',
};

function about(passage: string, wish: string): ChatPrompt {
  const messageWith = (words: string): ChatMessage => {
    return { role: 'user', content: `Text: ${passage.trim()}\n\n${words}`, markup: false };
  };
  return { ...said([messageWith(wish)]), sharedBeginning: [messageWith('')] };
}

function afterPassage(passage: string, wish: string): ChatPrompt {
  const messagesWith = (words: string): ChatMessage[] => [passageMessage(passage), user(words)];
  return { ...said(messagesWith(wish)), sharedBeginning: messagesWith('') };
}

/**
 * Turns thinking off. A model that thinks would be cut off by the limit on its answer, and what it learns would depend
 * on its thoughts.
 */
function said(messages: readonly ChatMessage[]): ChatPrompt {
  return { messages, thinking: false };
}

/** A passage is not the application's own words, so markup in it is text. */
function passageMessage(passage: string): ChatMessage {
  return { role: 'system', content: `Answer from this passage.\n\n${passage.trim()}`, markup: false };
}

function user(content: string): ChatMessage {
  return { role: 'user', content };
}
