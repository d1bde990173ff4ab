/** The thread of a `PromptCounter`: started by it, never by hand. */
import { workerData } from 'node:worker_threads';
import { answerCalls } from '../support/threadAnswers.js';
import type { ChatPrompt } from '../types.js';
import { ChatTokenizer } from './chatTokenizer.js';

// The counter gives and asks for nothing else.
const loading = ChatTokenizer.load(workerData as string);
// Each call says what is wrong with it.
loading.catch(() => undefined);

answerCalls<number>('the tokens of a prompt could not be counted', async (request) => {
  const tokenizer = await loading;
  return request === null ? 0 : tokenizer.countTokens(request as ChatPrompt);
});
