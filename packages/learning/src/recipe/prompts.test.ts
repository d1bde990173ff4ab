import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instructedPrompts, plainPrompts } from './prompts.js';

test('all prompts about a passage share one beginning, which they only go on from', () => {
  const passage = ' The lamp costs 40 euros.\n';
  for (const prompts of [plainPrompts, instructedPrompts]) {
    const all = [
      prompts.reading(passage, 'What does the lamp cost?'),
      prompts.ask(passage, '40 euros'),
      prompts.answers(passage),
      prompts.list(passage),
      prompts.rephrase('What does the lamp cost?', passage),
    ];
    for (const { messages, sharedBeginning = [] } of all) {
      assert.deepEqual(sharedBeginning, all[0]?.sharedBeginning, prompts.name);
      assert.equal(sharedBeginning.length, messages.length);
      assert.ok(sharedBeginning.some(({ content }) => content.includes(passage.trim())));
      const last = messages.length - 1;
      assert.deepEqual(messages.slice(0, last), sharedBeginning.slice(0, last));
      assert.ok(messages[last]?.content.startsWith(sharedBeginning[last]?.content ?? 'nothing'));
      assert.notEqual(messages[last]?.content, sharedBeginning[last]?.content);
    }
    assert.equal(prompts.rephrase('Who?', null).sharedBeginning, undefined);
    assert.equal(prompts.closedBook('Who?').sharedBeginning, undefined);
  }
});
