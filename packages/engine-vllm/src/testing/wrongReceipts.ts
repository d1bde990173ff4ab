/** Answers that no server gives, for the fault injector. */
import type { Answer, FaultyVllm } from './faultyVllm.js';

export const usage = (changes: object) => (answer: Answer) => ({ ...answer, usage: { ...answer.usage, ...changes } });
export const choice = (changes: object) => (answer: Answer) => ({
  ...answer,
  choices: [{ ...answer.choices[0], ...changes }],
});
/** Each has a name, the code of the error that it ends in, and a change of an answer. */
export const wrongReceipts: readonly (readonly [string, string, FaultyVllm['distort']])[] = [
  ['no usage', 'receipt_missing', (answer) => ({ ...answer, usage: null })],
  ['no cached tokens', 'receipt_missing', usage({ prompt_tokens_details: null })],
  ['no token ids', 'receipt_missing', choice({ token_ids: null })],
  ['no end', 'receipt_missing', choice({ finish_reason: null })],
  ['something else', 'receipt_missing', () => 'an answer'],
  ['a total that is no sum', 'receipt_inconsistent', usage({ total_tokens: 1 })],
  ['another prompt', 'receipt_inconsistent', usage({ prompt_tokens: 3, total_tokens: 9 })],
  [
    'more cached tokens than the prompt',
    'receipt_inconsistent',
    usage({ prompt_tokens_details: { cached_tokens: 999 } }),
  ],
  ['other counts than tokens', 'receipt_inconsistent', choice({ token_ids: [5] })],
  [
    'an answer cut short',
    'receipt_inconsistent',
    (answer) =>
      choice({ token_ids: [5], finish_reason: 'length' })({
        ...answer,
        usage: { ...answer.usage, completion_tokens: 1, total_tokens: Number(answer.usage['prompt_tokens']) + 1 },
      }),
  ],
];
