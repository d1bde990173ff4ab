import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { findConversationProblem } from './conversation.js';
import type { WireMessage } from './requests.js';

const user: WireMessage = { role: 'user', content: 'question' };

function calls(...ids: string[]): WireMessage {
  const toCall = (id: string) => ({ id, type: 'function' as const, function: { name: 'look_up', arguments: '{}' } });
  return { role: 'assistant', content: '', tool_calls: ids.map(toCall) };
}

function result(toolCallId: string): WireMessage {
  return { role: 'tool', content: '', tool_call_id: toolCallId };
}

function problemOf(...messages: WireMessage[]): string | null {
  return findConversationProblem({ messages })?.param ?? null;
}

describe('"final turn must be a user message or a completed tool-result block"', () => {
  test('it may be either', () => {
    assert.equal(problemOf(user), null);
    assert.equal(problemOf(user, calls('1'), result('1')), null);
  });

  test('it may be nothing else', () => {
    assert.equal(problemOf({ role: 'system', content: 'x' }), 'messages[0]');
    assert.equal(problemOf(user, { role: 'assistant', content: 'answer' }), 'messages[1]');
    assert.equal(problemOf(user, calls('1')), 'messages[1]');
    assert.equal(problemOf(user, calls('1', '2'), result('1')), 'messages[2]');
  });
});

describe('"an assistant message with calls is followed at once by exactly one result for each (any order, nothing between)"', () => {
  test('any order', () => {
    assert.equal(problemOf(user, calls('1', '2'), result('2'), result('1'), user), null);
  });

  test('nothing between', () => {
    assert.equal(problemOf(user, calls('1'), user, result('1')), 'messages[2]');
    assert.equal(problemOf(user, calls('1', '2'), result('1'), calls('3'), result('2'), result('3')), 'messages[3]');
  });

  test('one each', () => {
    assert.equal(problemOf(user, calls('1'), result('1'), result('1')), 'messages[3].tool_call_id');
    assert.equal(problemOf(user, calls('1'), result('2')), 'messages[2].tool_call_id');
    assert.equal(problemOf(user, result('1')), 'messages[1].tool_call_id');
    assert.equal(problemOf(user, calls('1'), { role: 'tool', content: '' }), 'messages[2].tool_call_id');
  });

  test('only assistants call, and only tools answer', () => {
    assert.equal(problemOf({ ...calls('1'), role: 'user' }, result('1')), 'messages[0].tool_calls');
    assert.equal(problemOf({ ...user, tool_call_id: '1' }), 'messages[0].tool_call_id');
  });
});

test('"The content of a system, developer or user message is not empty": "may be empty for tool-call messages or tool results"', () => {
  for (const role of ['system', 'user'] as const) {
    assert.equal(problemOf({ role, content: '' }, user), 'messages[0].content');
    assert.equal(problemOf(user, user, { role, content: '' }, user), 'messages[2].content');
  }
  assert.equal(problemOf(user, calls('1'), result('1')), null);
  assert.equal(problemOf(user, { role: 'assistant', content: '' }, user), null);
});

test('"call ids are unique over the whole conversation"', () => {
  assert.equal(problemOf(user, calls('1', '1'), result('1')), 'messages[1].tool_calls[1].id');
  assert.equal(problemOf(user, calls('1'), result('1'), calls('1'), result('1')), 'messages[3].tool_calls[0].id');
});

test('"`arguments` is the text of a JSON object"', () => {
  const withArguments = (text: string): WireMessage => ({
    role: 'assistant',
    content: '',
    tool_calls: [{ id: '1', type: 'function', function: { name: 'look_up', arguments: text } }],
  });
  for (const text of ['{}', ' {"a": [1]} ']) assert.equal(problemOf(user, withArguments(text), result('1')), null);
  for (const text of ['', '[]', 'null', '1', '{', '{} {}']) {
    assert.equal(problemOf(user, withArguments(text), result('1')), 'messages[1].tool_calls[0].function.arguments');
  }
});

test('"A key that occurs twice in an object is refused.": also in the text of arguments, whose numbers are kept as they are', () => {
  const withArguments = (text: string): WireMessage => ({
    role: 'assistant',
    content: '',
    tool_calls: [{ id: '1', type: 'function', function: { name: 'look_up', arguments: text } }],
  });
  const twice = findConversationProblem({ messages: [user, withArguments('{"a":{"b":1,"b":1}}'), result('1')] });
  assert.deepEqual(twice, {
    param: 'messages[1].tool_calls[0].function.arguments',
    message: 'the key a.b occurs twice',
  });
  assert.equal(problemOf(user, withArguments('{"id":12345678901234567890}'), result('1')), null);
});

test('arguments nest as deep as the parameters of a tool may, and the field is named', () => {
  const nested = (levels: number): WireMessage => ({
    role: 'assistant',
    content: '',
    tool_calls: [
      {
        id: '1',
        type: 'function',
        function: { name: 'look_up', arguments: `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}` },
      },
    ],
  });
  assert.equal(problemOf(user, nested(100), result('1')), null);
  for (const levels of [101, 2_000, 7_000]) {
    assert.equal(problemOf(user, nested(levels), result('1')), 'messages[1].tool_calls[0].function.arguments');
  }
});

test('a conversation built by the rules has no problem, and one message taken out of a tool block has one', () => {
  const block = fc
    .uniqueArray(fc.uuid(), { minLength: 1, maxLength: 4 })
    .chain((ids) =>
      fc.shuffledSubarray(ids, { minLength: ids.length }).map((order) => [calls(...ids), ...order.map(result)]),
    );
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 5 }), fc.nat(), (blocks, pick) => {
      const messages = [user, ...blocks.flat()];
      assert.equal(problemOf(...messages), null);
      const taken = 1 + (pick % (messages.length - 1));
      assert.notEqual(problemOf(...messages.filter((_, index) => index !== taken)), null);
    }),
  );
});
