export type { Chat, ChatCompletions, ChatOptions, NewChatCompletion, NewChatStream } from './chat.js';
export { EngraftClient } from './client.js';
export { EngraftApiError, EngraftConnectionError } from './errors.js';
export type {
  Adapters,
  Inferences,
  Internalizations,
  JobPageOptions,
  Jobs,
  Models,
  NewInference,
  NewInternalization,
  Subjects,
  WaitOptions,
  WriteOptions,
} from './resources.js';
export type { CallOptions, ClientOptions } from './transport.js';
