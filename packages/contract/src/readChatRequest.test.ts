import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readChatRequest, type ChatReading } from './readChatRequest.js';
import { readInferenceRequest } from './readRequest.js';

const message = { role: 'user', content: 'question' };
const chat = { model: 'model-5.3', messages: [message] };
const tool = { type: 'function', function: { name: 'look_up' } };
const toolCall = { id: '1', type: 'function', function: { name: 'look_up', arguments: '{}' } };
const result = { role: 'tool', content: 'found', tool_call_id: '1' };

/** The path of the first problem, or `null` if the body is accepted. */
function problemOf(body: unknown): string | null {
  const outcome = readChatRequest(body, 'model-5.3');
  return outcome.kind === 'read' ? null : outcome.param;
}

function read(body: unknown): ChatReading {
  const outcome = readChatRequest(body, 'model-5.3');
  return outcome.kind === 'read' ? outcome.value : assert.fail(`${outcome.param}: ${outcome.message}`);
}

const withMessages = (...messages: unknown[]) => ({ ...chat, messages });

describe('POST /v1/chat/completions', () => {
  test('`model`: "required; only `model-5.3`", or what the service is configured to call it', () => {
    assert.equal(problemOf({ messages: [message] }), 'model');
    for (const model of ['model-5', '', null, 5]) assert.equal(problemOf({ ...chat, model }), 'model');
    assert.equal(readChatRequest({ ...chat, model: 'mine' }, 'mine').kind, 'read');
  });

  test('"Body (unknown fields rejected)": "logprobs, Responses-specific fields (rejected with 422)"', () => {
    for (const field of ['logprobs', 'top_logprobs', 'input', 'instructions', 'max_output_tokens', 'audio', 'store']) {
      assert.equal(problemOf({ ...chat, [field]: null }), field);
      assert.equal(problemOf({ ...chat, [field]: 1 }), field);
    }
    assert.equal(problemOf(withMessages({ ...message, reasoning_content: null })), 'messages[0].reasoning_content');
    assert.equal(
      problemOf({ ...chat, stream_options: { include_obfuscation: false } }),
      'stream_options.include_obfuscation',
    );
  });

  test('"Unsupported: `strict: true` tools, `json_schema`, images, audio"', () => {
    const strict = { ...tool, function: { ...tool.function, strict: true } };
    assert.equal(problemOf({ ...chat, tools: [strict] }), 'tools[0].function.strict');
    const jsonSchema = { type: 'json_schema', json_schema: { name: 'a', schema: {} } };
    assert.match(problemOf({ ...chat, response_format: jsonSchema }) ?? '', /^response_format/);
    for (const part of [
      { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
      { type: 'input_audio', input_audio: { data: '', format: 'wav' } },
      { type: 'refusal', refusal: 'no' },
    ]) {
      assert.equal(problemOf(withMessages({ role: 'user', content: [part] })), 'messages[0].content');
    }
  });

  test('"`null` for an optional field, of the body or of a message, means"', () => {
    const optional = [
      'subject_id',
      'tenant_id',
      'adapter_version',
      'max_completion_tokens',
      'max_tokens',
      'temperature',
      'n',
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'response_format',
      'stream',
      'stream_options',
    ];
    const allNull = { ...chat, ...Object.fromEntries(optional.map((field) => [field, null])) };
    assert.deepEqual(read(allNull), read(chat));
    assert.equal(problemOf({ ...chat, messages: null }), 'messages');
    const fields = { name: null, tool_calls: null, tool_call_id: null };
    assert.deepEqual(read(withMessages({ ...message, ...fields })), read(chat));
    assert.equal(problemOf(withMessages({ ...message, role: null })), 'messages[0].role');
    const calling = { role: 'assistant', content: null, tool_calls: [{ ...toolCall, id: null }] };
    assert.equal(problemOf(withMessages(calling, result)), 'messages[0].tool_calls[0].id');
  });

  test('"The content of a system, developer or user message is not empty", also as parts', () => {
    for (const role of ['system', 'developer', 'user']) {
      for (const content of ['', [], [{ type: 'text', text: '' }], ['', ''].map((text) => ({ type: 'text', text }))]) {
        assert.equal(problemOf(withMessages({ role, content }, message)), 'messages[0].content');
      }
      const parts = ['', ' '].map((text) => ({ type: 'text', text }));
      assert.equal(problemOf(withMessages({ role, content: parts }, message)), null);
    }
    for (const content of ['', []]) {
      assert.equal(problemOf(withMessages(message, { role: 'assistant', content }, message)), null);
    }
  });

  test('`messages[].role`: "required; `system`, `developer`, `user`, `assistant`, `tool` (`developer` is treated as `system`)"', () => {
    const roles = ['system', 'developer', 'user', 'assistant'];
    const messages = [...roles.map((role) => ({ role, content: role })), message];
    assert.deepEqual(
      read(withMessages(...messages)).inference.messages.map(({ role }) => role),
      ['system', 'system', 'user', 'assistant', 'user'],
    );
    for (const role of ['function', 'User', null]) {
      assert.equal(problemOf(withMessages({ role, content: '' })), 'messages[0].role');
    }
    assert.equal(problemOf(withMessages({ content: '' })), 'messages[0].role');
  });

  test('`messages[].content`: "string, array of `{type: text, text}`, or null", "null allowed for assistant messages carrying function calls"', () => {
    const parts = [
      { type: 'text', text: 'one' },
      { type: 'text', text: ', two' },
    ];
    assert.equal(read(withMessages({ role: 'user', content: parts })).inference.messages[0]!.content, 'one, two');
    assert.equal(
      problemOf(withMessages({ role: 'user', content: [{ ...parts[0], extra: 1 }] })),
      'messages[0].content[0].extra',
    );
    for (const content of [null, undefined]) {
      const calling = { role: 'assistant', content, tool_calls: [toolCall] };
      assert.equal(read(withMessages(calling, result)).inference.messages[0]!.content, '');
      for (const role of ['user', 'system', 'assistant']) {
        assert.equal(problemOf(withMessages({ role, content }, message)), 'messages[0].content');
      }
      assert.equal(
        problemOf(withMessages({ role: 'assistant', content, tool_calls: [] }, message)),
        'messages[0].content',
      );
      assert.equal(problemOf(withMessages(calling, { ...result, content })), 'messages[1].content');
    }
  });

  test('"one message\'s text: 16,000 units", however many parts it has', () => {
    const sized = (...units: number[]) =>
      withMessages({ role: 'user', content: units.map((count) => ({ type: 'text', text: 'x'.repeat(count) })) });
    assert.equal(problemOf(sized(8_000, 8_000)), null);
    assert.equal(problemOf(sized(8_000, 8_001)), 'messages[0].content');
    assert.equal(problemOf(withMessages({ role: 'user', content: 'x'.repeat(16_001) })), 'messages[0].content');
    assert.equal(problemOf(withMessages({ role: 'user', content: '😀'.repeat(8_001) })), 'messages[0].content');
  });

  test('"serialized messages and tools: 64,000", "of the values as parsed"', () => {
    const filled = (units: number) => {
      const messages = [...Array.from({ length: 4 }, () => 15_000), units].map((count) => ({
        role: 'user',
        content: [{ type: 'text', text: 'x'.repeat(count) }],
      }));
      return withMessages(...messages);
    };
    const rest = 64_000 - JSON.stringify(filled(0).messages).length;
    assert.equal(problemOf(filled(rest)), null);
    assert.equal(problemOf(filled(rest + 1)), 'messages');
    assert.equal(problemOf({ ...filled(rest), tools: null }), null);
    assert.equal(problemOf({ ...filled(rest), tools: [] }), null);
    assert.equal(problemOf({ ...filled(rest), tools: [tool] }), 'messages');
  });

  test('`max_completion_tokens`: "1-4096, default 2048", `max_tokens`: "legacy alias; do not send together"', () => {
    assert.equal(read(chat).inference.max_output_tokens, 2048);
    for (const field of ['max_completion_tokens', 'max_tokens']) {
      for (const limit of [1, 4096]) assert.equal(read({ ...chat, [field]: limit }).inference.max_output_tokens, limit);
      for (const limit of [0, 4097, 1.5, '5']) assert.equal(problemOf({ ...chat, [field]: limit }), field);
    }
    assert.equal(problemOf({ ...chat, max_completion_tokens: 5, max_tokens: 5 }), 'max_tokens');
    assert.equal(read({ ...chat, max_completion_tokens: 5, max_tokens: null }).inference.max_output_tokens, 5);
  });

  test('`n`: "only 1"; `temperature`: "0-1, default 0"', () => {
    assert.equal(problemOf({ ...chat, n: 1 }), null);
    for (const n of [0, 2, 1.5, '1']) assert.equal(problemOf({ ...chat, n }), 'n');
    assert.equal(read(chat).inference.temperature, 0);
    for (const temperature of [-0.1, 1.1, '0']) assert.equal(problemOf({ ...chat, temperature }), 'temperature');
  });

  test('`tools`: "up to 32 function definitions, unique names"', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ type: 'function', function: { name: `tool_${index}` } }));
    assert.equal(problemOf({ ...chat, tools: many(32) }), null);
    assert.equal(problemOf({ ...chat, tools: many(33) }), 'tools');
    assert.equal(problemOf({ ...chat, tools: [tool, tool] }), 'tools[1].function.name');
  });

  test('`tool_choice`: "`auto`, `none`, `required`, or named function"', () => {
    const named = { type: 'function', function: { name: 'look_up' } };
    for (const toolChoice of ['auto', 'none', 'required', named]) {
      assert.deepEqual(read({ ...chat, tools: [tool], tool_choice: toolChoice }).inference.tool_choice, toolChoice);
    }
    assert.equal(problemOf({ ...chat, tool_choice: 'any', tools: [tool] }), 'tool_choice');
    assert.equal(problemOf({ ...chat, tool_choice: 'required' }), 'tool_choice');
    assert.equal(problemOf({ ...chat, tool_choice: named }), 'tool_choice.function.name');
  });

  test('`stream`: "default false", `stream_options.include_usage`', () => {
    assert.deepEqual(read(chat).delivery, { stream: false, include_usage: false });
    const streamOptions = { include_usage: true };
    assert.deepEqual(read({ ...chat, stream: true, stream_options: streamOptions }).delivery, {
      stream: true,
      include_usage: true,
    });
    assert.equal(problemOf({ ...chat, stream: 'yes' }), 'stream');
    assert.equal(problemOf({ ...chat, stream_options: { include_usage: 1 } }), 'stream_options.include_usage');
  });

  test('"Assistant calls need unique IDs; every call must receive exactly one matching tool result before the next assistant generation; the final message must be a user message or the end of a completed tool-result block."', () => {
    const calling = { role: 'assistant', content: null, tool_calls: [toolCall] };
    assert.equal(problemOf(withMessages(message, calling, result)), null);
    assert.equal(problemOf(withMessages(message, calling)), 'messages[1]');
    assert.equal(problemOf(withMessages(message, calling, message)), 'messages[2]');
    assert.equal(problemOf(withMessages(calling, result, calling, result)), 'messages[2].tool_calls[0].id');
    assert.equal(problemOf(withMessages(message, { role: 'assistant', content: 'answer' })), 'messages[1]');
    const listed = { ...toolCall, function: { ...toolCall.function, arguments: '[]' } };
    assert.equal(
      problemOf(withMessages({ ...calling, tool_calls: [listed] }, result)),
      'messages[0].tool_calls[0].function.arguments',
    );
  });

  test('what the native endpoint takes means the same here', () => {
    const text = fc.string({ maxLength: 30 });
    const turns = fc.array(
      fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: text }, { noNullPrototype: true }),
      { maxLength: 4 },
    );
    const options = fc.record(
      {
        temperature: fc.double({ min: 0, max: 1, noNaN: true }),
        tools: fc.constantFrom([], [tool]),
        tool_choice: fc.constantFrom('auto', 'none', 'required'),
        parallel_tool_calls: fc.boolean(),
        response_format: fc.constantFrom({ type: 'text' }, { type: 'json_object' }, { type: 'xml' }),
      },
      { requiredKeys: [], noNullPrototype: true },
    );
    fc.assert(
      fc.property(turns, options, fc.option(fc.integer({ min: 0, max: 5_000 })), (messages, shared, limit) => {
        const native = readInferenceRequest({
          subject_id: 's',
          messages,
          ...shared,
          ...(limit === null ? {} : { max_output_tokens: limit }),
        });
        const outcome = readChatRequest({ model: 'm', messages, ...shared, max_tokens: limit }, 'm');
        assert.equal(outcome.kind, native.kind);
        if (outcome.kind !== 'read' || native.kind !== 'read') return;
        const { subject_id, ...inference } = native.value;
        assert.equal(subject_id, 's');
        assert.deepEqual(JSON.parse(JSON.stringify(outcome.value.inference)), inference);
      }),
      { numRuns: 1_000 },
    );
  });

  test('has an answer to any JSON', () => {
    fc.assert(fc.property(fc.jsonValue(), (body) => void readChatRequest(body, 'model-5.3')));
  });
});
