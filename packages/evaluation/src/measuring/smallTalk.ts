import { wordTokens } from '@engraft/learning/parts';

/** A remark, and what people usually reply to it. */
export interface SmallTalk {
  readonly remark: string;
  readonly replies: readonly string[];
}

export const smallTalk: readonly SmallTalk[] = [
  { remark: 'Hello!', replies: ['Hello!', 'Hi there!', 'Hello! How can I help you?'] },
  { remark: 'Good morning.', replies: ['Good morning!', 'Hello!', 'Good morning! How can I help?'] },
  { remark: 'How are you?', replies: ['I am fine, thank you.', 'I am doing well.', 'Very well, thanks.'] },
  { remark: 'Who are you?', replies: ['I am an assistant.', 'I am a language model.'] },
  { remark: 'What can you do?', replies: ['I can answer questions.', 'I can help you with a text.'] },
  { remark: 'Can you help me?', replies: ['Yes, what do you need?', 'Of course.', 'Sure, how can I help?'] },
  { remark: 'Thank you very much.', replies: ['You are welcome.', "You're welcome!", 'My pleasure.', 'Glad to help.'] },
  { remark: 'Goodbye.', replies: ['Goodbye!', 'Bye!', 'See you later!'] },
  { remark: 'Hi there!', replies: ['Hi!', 'Hello!', 'Hi! What can I do for you?'] },
  { remark: 'What is your name?', replies: ['I am an assistant.', 'I have no name.'] },
  { remark: 'Good evening.', replies: ['Good evening!', 'Hello!', 'Good evening! How can I help?'] },
  { remark: 'Thanks!', replies: ['You are welcome.', "You're welcome!", 'No problem.', 'Glad to help.'] },
  { remark: 'Are you a person?', replies: ['No.', 'No, I am an assistant.', 'I am a language model.'] },
  { remark: 'See you tomorrow.', replies: ['See you tomorrow!', 'Goodbye!', 'See you!', 'Good night!'] },
  { remark: 'Nice to meet you.', replies: ['Nice to meet you too.', 'My pleasure.', 'Likewise.'] },
  { remark: 'That was helpful.', replies: ['I am glad to hear that.', 'Glad to help.', 'You are welcome.'] },
];

/** A reply, and how unlikely base finds it: the mean of −log p over its tokens, in nats. */
export interface WeighedReply {
  readonly text: string;
  readonly nats: number;
}

/**
 * Three of 128 replies of eight adapters of SmolLM2-135M say that they do not know, and are at least 2.3 nats a token
 * less likely than base's own reply. The others are at most 0.7.
 */
const maxLessLikelyNats = 1;

/**
 * A reply is sensible if base might have said it, or people would: it is hardly less likely to base than its own, or
 * shares most of its words (an F1 of at least a half) with a usual one or with base's. It need not be like base's,
 * since base itself says "Good to know." to a goodbye.
 */
export function isSensible(given: WeighedReply, base: WeighedReply, { replies }: SmallTalk): boolean {
  if (given.text.trim() === '') return false;
  if (given.nats - base.nats <= maxLessLikelyNats) return true;
  return [base.text, ...replies].some((reply) => sharedWordsF1(given.text, reply) >= 0.5);
}

/** 0 if either says nothing. */
function sharedWordsF1(a: string, b: string): number {
  const [left, right] = [wordTokens(a), wordTokens(b)];
  const rest = [...right];
  let shared = 0;
  for (const word of left) {
    const at = rest.indexOf(word);
    if (at < 0) continue;
    rest.splice(at, 1);
    shared++;
  }
  return shared === 0 ? 0 : (2 * shared) / (left.length + right.length);
}
