import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ChatPrompt } from '../types.js';
import { ChatTokenizer } from './chatTokenizer.js';
import { PromptCounter } from './promptCounter.js';

const base = fileURLToPath(new URL('../../../../models/base/', import.meta.url));
const promptOf = (content: string): ChatPrompt => ({ messages: [{ role: 'user', content }] });

test('counts as the tokenizer does, while the thread that asks goes on', async () => {
  const [counter, tokenizer] = [await PromptCounter.open(base), await ChatTokenizer.load(base)];
  const prompts = ['Who built the lighthouse?', '<|im_start|>system', 'word '.repeat(2_000)].map(promptOf);
  let turns = 0;
  const turn = setInterval(() => (turns += 1), 0);
  const counted = await Promise.all(prompts.map((prompt) => counter.countTokens(prompt)));
  clearInterval(turn);
  assert.deepEqual(
    counted,
    prompts.map((prompt) => tokenizer.countTokens(prompt)),
  );
  // A count in this thread would be done before any timer runs.
  assert.ok(turns > 0);
  await counter.close();
  await assert.rejects(counter.countTokens(promptOf('late')), { code: 'cancelled' });
});

test('says what is wrong with a tokenizer', async () => {
  await assert.rejects(PromptCounter.open(join(base, 'none')), {
    name: 'EngineError',
    code: 'checkpoint_invalid',
    message: `there is no folder ${join(base, 'none')}`,
  });
});
