/** The thread of a `PromptCounter`, which starts it. Nothing else does. */
import { workerData } from 'node:worker_threads';
import { answerCalls } from '../support/threadAnswers.js';
import type { ChatPrompt } from '../types.js';
import { ChatTokenizer } from './chatTokenizer.js';

// The counter sends the folder once, and prompts after that.
const loading = ChatTokenizer.load(workerData as string);
// Each call reports a failure to load.
loading.catch(() => undefined);

answerCalls<number>('the tokens of a prompt could not be counted', async (request) => {
  const tokenizer = await loading;
  return request === null ? 0 : tokenizer.countTokens(request as ChatPrompt);
});
