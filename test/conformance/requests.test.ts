import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readChatRequest, readInferenceRequest, type ReadOutcome } from '@engraft/contract';

type Fields = Readonly<Record<string, unknown>>;

const user = { role: 'user', content: 'question' };
const functionTool = { type: 'function', function: { name: 'f' } };

function native(fields: Fields): ReadOutcome<unknown> {
  return readInferenceRequest({ subject_id: 'subject', messages: [user], ...fields });
}

function chat(fields: Fields): ReadOutcome<unknown> {
  return readChatRequest({ model: 'model-5.3', messages: [user], ...fields }, 'model-5.3');
}

/** Every reader takes the first values, and refuses the others at `param`. */
function assertTakes(
  readers: readonly ((fields: Fields) => ReadOutcome<unknown>)[],
  taken: readonly Fields[],
  refused: readonly Fields[],
  param: string,
): void {
  for (const read of readers) {
    for (const fields of taken) assert.equal(read(fields).kind, 'read', JSON.stringify(read(fields)));
    for (const fields of refused) {
      const outcome = read(fields);
      assert.ok(outcome.kind === 'invalid', JSON.stringify(fields).slice(0, 100));
      assert.ok(outcome.param.startsWith(param), outcome.param);
    }
  }
}

/** A conversation in which the assistant makes these calls, each with its result. */
function withCalls(
  calls: readonly { readonly id: string; readonly arguments?: string; readonly name?: string }[],
): Fields {
  const toolCalls = calls.map(({ id, arguments: text = '{}', name = 'f' }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }));
  const results = calls.map(({ id }) => ({ role: 'tool', content: '', tool_call_id: id }));
  return { messages: [user, { role: 'assistant', content: '', tool_calls: toolCalls }, ...results] };
}

const both = [native, chat];

describe('requests for inference', () => {
  test('"message `name`, tool function `name`: string matching `^[a-zA-Z0-9_-]{1,64}$`"', () => {
    const names = { good: ['a', 'A-1_', '_'.repeat(64)], bad: ['', 'a b', 'ä', 'a.b', 'a'.repeat(65), 1, 'a\n'] };
    const inMessage = (name: unknown): Fields => ({ messages: [{ ...user, name }] });
    assertTakes(both, names.good.map(inMessage), names.bad.map(inMessage), 'messages[0].name');
    const inTool = (name: unknown): Fields => ({ tools: [{ type: 'function', function: { name } }] });
    assertTakes(both, names.good.map(inTool), names.bad.map(inTool), 'tools[0].function.name');
  });

  test('"tool call `id`: string, 1-128 chars" and "`messages[].tool_call_id`: 1-128 chars"', () => {
    assertTakes(both, [withCalls([{ id: 'a' }]), withCalls([{ id: 'ä'.repeat(128) }])], [], '');
    assertTakes(
      both,
      [],
      [withCalls([{ id: '' }]), withCalls([{ id: 'a'.repeat(129) }])],
      'messages[1].tool_calls[0].id',
    );
    const answers = (toolCallId: unknown): Fields => ({
      messages: [
        ...(withCalls([{ id: 'a' }])['messages'] as Fields[]).slice(0, 2),
        { role: 'tool', content: '', tool_call_id: toolCallId },
      ],
    });
    assertTakes(both, [answers('a')], ['', 'a'.repeat(129), 1, undefined].map(answers), 'messages[2].tool_call_id');
  });

  test('"`messages[].role`: `system`, `user`, `assistant`, `tool`"', () => {
    const speaks = (role: unknown): Fields => ({ messages: [{ role, content: 'x' }, user] });
    assertTakes(
      both,
      ['system', 'user', 'assistant'].map(speaks),
      ['', 'function', 'User', 1, undefined].map(speaks),
      'messages[0]',
    );
    assertTakes([native], [], [speaks('developer')], 'messages[0].role');
  });

  test('"`messages[].tool_calls`: 1-16 items of `{id, type: function, function: {name, arguments}}`; `arguments` string at most 16,000"', () => {
    const calls = (count: number): Fields => withCalls(Array.from({ length: count }, (_, id) => ({ id: String(id) })));
    assertTakes([native], [1, 16].map(calls), [0, 17].map(calls), 'messages[1].tool_calls');
    const long = (length: number): Fields => withCalls([{ id: 'a', arguments: `{"a":"${'x'.repeat(length - 8)}"}` }]);
    assertTakes([native], [long(16_000)], [long(16_001)], 'messages[1].tool_calls[0].function.arguments');
    const shaped = (call: unknown): Fields => ({
      messages: [user, { role: 'assistant', content: '', tool_calls: [call] }],
    });
    const whole = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const broken = [{ ...whole, type: 'code' }, { ...whole, index: 0 }, { ...whole, function: { name: 'f' } }, 'f'];
    assertTakes([native], [], broken.map(shaped), 'messages[1].tool_calls[0]');
  });

  test('chat: "items `{id (1-128), type: function, function: {name, arguments (string, at most 16,000, JSON object text)}}`"', () => {
    const text = (arguments_: string): Fields => withCalls([{ id: 'a'.repeat(128), arguments: arguments_ }]);
    assertTakes([chat], [text('{}'), text(`{"a":"${'x'.repeat(15_992)}"}`)], [], '');
    const refused = ['', '[]', '1', '{', 'null', `{"a":"${'x'.repeat(15_993)}"}`].map(text);
    assertTakes([chat], [], refused, 'messages[1].tool_calls[0].function.arguments');
  });

  test('"`parallel_tool_calls`: boolean"', () => {
    const send = (parallelToolCalls: unknown): Fields => ({ parallel_tool_calls: parallelToolCalls });
    assertTakes(both, [true, false].map(send), ['true', 1, {}].map(send), 'parallel_tool_calls');
  });

  test('"`response_format`: `{type}` with `text` or `json_object`"', () => {
    const send = (responseFormat: unknown): Fields => ({ response_format: responseFormat });
    assertTakes(
      both,
      [{ type: 'text' }, { type: 'json_object' }].map(send),
      ['text', {}, { type: 'json' }, { type: 'json_schema', json_schema: {} }, { type: 'text', strict: true }].map(
        send,
      ),
      'response_format',
    );
  });

  test('"function argument string: 16,000 units" and "one message\'s text: 16,000 units", on both endpoints', () => {
    const says = (units: number): Fields => ({ messages: [{ ...user, content: 'x'.repeat(units) }] });
    assertTakes(both, [says(1), says(16_000)], [says(0), says(16_001)], 'messages[0].content');
    const text = (units: number): Fields => withCalls([{ id: 'a', arguments: `{"a":"${'x'.repeat(units - 8)}"}` }]);
    assertTakes(both, [text(16_000)], [text(16_001)], 'messages[1].tool_calls[0].function.arguments');
  });

  test('"`message` (a sentence for a person, never to be parsed) always, and `param` (path of the offending field)"', () => {
    const outcome = native({ messages: [user, { role: 'tool', content: '' }] });
    assert.ok(outcome.kind === 'invalid');
    assert.equal(outcome.param, 'messages[1].tool_call_id');
    assert.ok(outcome.message.length > 10);
  });

  test('"tool description: 8,000 chars"', () => {
    const described = (units: number): Fields => ({
      tools: [{ ...functionTool, function: { name: 'f', description: 'x'.repeat(units) } }],
    });
    assertTakes(both, [described(8_000)], [described(8_001)], 'tools[0].function.description');
  });
});
