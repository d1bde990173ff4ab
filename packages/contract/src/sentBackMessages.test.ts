/** Answers as clients append them to the conversation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChatRequest, type ChatReading } from './readChatRequest.js';

const message = { role: 'user', content: 'question' };
const toolCall = { id: '1', type: 'function', function: { name: 'look_up', arguments: '{}' } };
const result = { role: 'tool', content: 'found', tool_call_id: '1' };

const withMessages = (...messages: unknown[]) => ({ model: 'model-5.3', messages });

function read(body: unknown): ChatReading {
  const outcome = readChatRequest(body, 'model-5.3');
  return outcome.kind === 'read' ? outcome.value : assert.fail(`${outcome.param}: ${outcome.message}`);
}

const dumped = { refusal: null, annotations: null, audio: null, function_call: null, name: null };

test('a message comes back as the official Python client dumps it', () => {
  const answer = { role: 'assistant', content: 'answer' };
  const calling = { role: 'assistant', content: null, tool_calls: [toolCall] };
  const plain = read(withMessages(message, answer, message, calling, result, message));
  const sent = [
    { ...message, ...dumped, tool_calls: null },
    { ...answer, ...dumped, tool_calls: null, parsed: null },
    message,
    { ...calling, ...dumped, annotations: [], refusal: '' },
    { ...result, ...dumped },
    message,
  ];
  assert.deepEqual(read(withMessages(...sent)), plain);
  // Version 3.57, of `.stream()`.
  const called = { arguments: '{}', name: 'look_up', parsed_arguments: null };
  const streamed = [{ id: '1', function: called, type: 'function', index: 0 }];
  const dump = { ...dumped, content: null, role: 'assistant', tool_calls: streamed, parsed: null };
  assert.deepEqual(read(withMessages(dump, result)), read(withMessages(calling, result)));
});

test('"`refusal`, `annotations`, `audio` and `function_call` of a message … are dropped when they are null or empty and refused otherwise"', () => {
  for (const field of ['refusal', 'annotations', 'audio', 'function_call', 'parsed']) {
    for (const empty of [null, '', [], {}]) {
      assert.deepEqual(read(withMessages({ ...message, [field]: empty })), read(withMessages(message)));
    }
    for (const full of ['no', [1], { id: 'a' }, 0, false]) {
      const outcome = readChatRequest(withMessages({ ...message, [field]: full }), 'model-5.3');
      assert.ok(outcome.kind === 'invalid');
      assert.deepEqual(
        [outcome.param, outcome.message],
        [`messages[0].${field}`, 'is dropped when it is null or empty, and refused otherwise'],
      );
    }
  }
});

test('what is dropped nests no deeper than other values, since its size is counted', () => {
  const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  const fields = [
    (value: unknown) => ({ ...toolCall, index: value }),
    (value: unknown) => ({ ...toolCall, parsed_arguments: value }),
    (value: unknown) => ({ ...toolCall, function: { ...toolCall.function, parsed_arguments: value } }),
  ];
  for (const withValue of fields) {
    const outcomeOf = (levels: number) => {
      const calling = { role: 'assistant', content: null, tool_calls: [withValue(nested(levels))] };
      return readChatRequest(withMessages(message, calling, result), 'model-5.3');
    };
    assert.equal(outcomeOf(100).kind, 'read');
    for (const levels of [101, 20_000]) {
      const outcome = outcomeOf(levels);
      assert.ok(outcome.kind === 'invalid');
      assert.match(outcome.param, /(?:index|parsed_arguments)$/);
    }
  }
});

test('"`index` and `parsed_arguments` of a message\'s tool call are dropped"', () => {
  const calling = (call: object) => withMessages({ role: 'assistant', content: null, tool_calls: [call] }, result);
  for (const parsedArguments of [null, {}, { a: [1] }]) {
    const streamed = { ...toolCall, index: 0, parsed_arguments: parsedArguments };
    const parsed = { ...toolCall, function: { ...toolCall.function, parsed_arguments: parsedArguments } };
    for (const call of [streamed, parsed]) assert.deepEqual(read(calling(call)), read(calling(toolCall)));
  }
  const unknown = readChatRequest(calling({ ...toolCall, position: 0 }), 'model-5.3');
  assert.equal(unknown.kind === 'invalid' && unknown.param, 'messages[0].tool_calls[0].position');
});
