import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instructedPrompts, plainPrompts } from './prompts.js';

test('all prompts about a passage begin with one opening, which they only go on from', () => {
  const passage = ' The lamp costs 40 euros.\n';
  for (const prompts of [plainPrompts, instructedPrompts]) {
    const all = [
      prompts.reading(passage, 'What does the lamp cost?'),
      prompts.ask(passage, '40 euros'),
      prompts.answers(passage),
      prompts.list(passage),
      prompts.rephrase('What does the lamp cost?', passage),
    ];
    for (const { messages, opening = [] } of all) {
      assert.deepEqual(opening, all[0]?.opening, prompts.name);
      assert.equal(opening.length, messages.length);
      assert.ok(opening.some(({ content }) => content.includes(passage.trim())));
      const last = messages.length - 1;
      assert.deepEqual(messages.slice(0, last), opening.slice(0, last));
      assert.ok(messages[last]?.content.startsWith(opening[last]?.content ?? 'nothing'));
      assert.notEqual(messages[last]?.content, opening[last]?.content);
    }
    assert.equal(prompts.rephrase('Who?', null).opening, undefined);
    assert.equal(prompts.closedBook('Who?').opening, undefined);
  }
});
