import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { fieldPath } from './fieldPath.js';
import { readInferenceRequest, readRequest } from './readRequest.js';
import { activationRequest, internalizationRequest } from './requests.js';

const message = { role: 'user', content: 'question' };
const inference = { subject_id: 'subject', messages: [message] };
const learning = { subject_id: 'subject', content: 'x'.repeat(20), max_cost_microusd: 1_000_000 };
const tool = { type: 'function', function: { name: 'look_up' } };

/** The path of the first problem, or `null` if the body is accepted. */
function problemOf(body: unknown): string | null {
  const outcome = readInferenceRequest(body);
  return outcome.kind === 'read' ? null : outcome.param;
}

function learningProblemOf(body: unknown): string | null {
  const outcome = readRequest(internalizationRequest, body);
  return outcome.kind === 'read' ? null : outcome.param;
}

describe('POST /v1/inferences', () => {
  test('fills in the defaults: `max_output_tokens` "default 2048", `temperature` "default 0", parameters "default empty-properties object"', () => {
    const outcome = readInferenceRequest({ ...inference, tools: [tool] });
    assert.deepEqual(outcome, {
      kind: 'read',
      value: {
        ...inference,
        tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } }],
        max_output_tokens: 2048,
        temperature: 0,
      },
    });
  });

  test('"Body (unknown fields rejected)": at every level, with the path of the field', () => {
    assert.equal(problemOf({ ...inference, extra: 1 }), 'extra');
    assert.equal(problemOf(JSON.parse('{"subject_id":"s","messages":[],"__proto__":{}}')), 'messages');
    assert.equal(
      problemOf(JSON.parse('{"subject_id":"s","messages":[{"role":"user","content":"q"}],"__proto__":{}}')),
      '__proto__',
    );
    assert.equal(problemOf({ ...inference, messages: [{ ...message, extra: 1 }] }), 'messages[0].extra');
    assert.equal(problemOf({ ...inference, '': 1 }), '""');
    assert.equal(problemOf({ ...inference, messages: [{ ...message, '': 1 }] }), 'messages[0].""');
    const parameters: unknown = JSON.parse('{"type":"object","__proto__":{"type":"null"}}');
    const lost = { ...tool, function: { ...tool.function, parameters } };
    assert.equal(problemOf({ ...inference, tools: [lost] }), 'tools[0].function.parameters.__proto__');
    assert.equal(problemOf({ ...inference, tools: [{ ...tool, extra: 1 }] }), 'tools[0].extra');
    assert.equal(problemOf({ ...inference, response_format: { type: 'text', extra: 1 } }), 'response_format.extra');
  });

  test('"Images, audio, `model` and `stream` are not accepted."', () => {
    assert.equal(problemOf({ ...inference, model: 'model-5.3' }), 'model');
    assert.equal(problemOf({ ...inference, stream: false }), 'stream');
    assert.equal(problemOf({ ...inference, messages: [{ role: 'user', content: [] }] }), 'messages[0].content');
  });

  test('"An explicit `null` is refused (422) where the contract does not name it"', () => {
    for (const field of [
      'tenant_id',
      'adapter_version',
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'response_format',
      'max_output_tokens',
      'temperature',
    ]) {
      assert.equal(problemOf({ ...inference, [field]: null }), field);
    }
    assert.equal(problemOf({ ...inference, messages: [{ ...message, name: null }] }), 'messages[0].name');
  });

  test('identifiers match `^[a-zA-Z0-9][a-zA-Z0-9_.:-]{0,127}$`', () => {
    for (const subjectId of ['a', '9', 'a_.:-', 'a'.repeat(128)])
      assert.equal(problemOf({ ...inference, subject_id: subjectId }), null);
    for (const subjectId of ['', '_a', 'a b', 'ä', 'a'.repeat(129), 'a\n', 5]) {
      assert.equal(problemOf({ ...inference, subject_id: subjectId }), 'subject_id');
    }
  });

  test('messages: "1-64 items", each "at most 16,000 units"', () => {
    assert.equal(problemOf({ ...inference, messages: [] }), 'messages');
    assert.equal(problemOf({ ...inference, messages: Array.from({ length: 64 }, () => message) }), null);
    assert.equal(problemOf({ ...inference, messages: Array.from({ length: 65 }, () => message) }), 'messages');
    const sized = (units: number) => ({ ...inference, messages: [{ role: 'user', content: 'x'.repeat(units) }] });
    assert.equal(problemOf(sized(16_000)), null);
    assert.equal(problemOf(sized(16_001)), 'messages[0].content');
  });

  test('"Lengths are UTF-16 code units": an emoji counts two', () => {
    assert.equal(problemOf({ ...inference, messages: [{ role: 'user', content: '😀'.repeat(8_000) }] }), null);
    assert.equal(
      problemOf({ ...inference, messages: [{ role: 'user', content: '😀'.repeat(8_001) }] }),
      'messages[0].content',
    );
  });

  test('`max_output_tokens` "integer 1-4096", `temperature` "number 0-1"', () => {
    for (const maxOutputTokens of [1, 4096])
      assert.equal(problemOf({ ...inference, max_output_tokens: maxOutputTokens }), null);
    for (const maxOutputTokens of [0, 4097, 1.5, '5', -1]) {
      assert.equal(problemOf({ ...inference, max_output_tokens: maxOutputTokens }), 'max_output_tokens');
    }
    for (const temperature of [0, 0.5, 1]) assert.equal(problemOf({ ...inference, temperature }), null);
    for (const temperature of [-0.1, 1.1, '0', Infinity])
      assert.equal(problemOf({ ...inference, temperature }), 'temperature');
  });

  test('tools: "up to 32 items", "description (max 8,000)", "strict (only false)"', () => {
    const named = (name: string, extra = {}) => ({ type: 'function', function: { name, ...extra } });
    const many = (count: number) => Array.from({ length: count }, (_, index) => named(`tool_${index}`));
    assert.equal(problemOf({ ...inference, tools: [] }), null);
    assert.equal(problemOf({ ...inference, tools: many(32) }), null);
    assert.equal(problemOf({ ...inference, tools: many(33) }), 'tools');
    assert.equal(problemOf({ ...inference, tools: [named('a', { description: 'x'.repeat(8_000) })] }), null);
    assert.equal(
      problemOf({ ...inference, tools: [named('a', { description: 'x'.repeat(8_001) })] }),
      'tools[0].function.description',
    );
    assert.equal(problemOf({ ...inference, tools: [named('a', { strict: false })] }), null);
    assert.equal(problemOf({ ...inference, tools: [named('a', { strict: true })] }), 'tools[0].function.strict');
    assert.equal(problemOf({ ...inference, tools: [named('a b')] }), 'tools[0].function.name');
    assert.equal(problemOf({ ...inference, tools: [named('a', { parameters: [] })] }), 'tools[0].function.parameters');
  });

  test('tool parameters may nest, but not so deep that nothing could read them', () => {
    const nested = (depth: number): unknown => JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth));
    const withParameters = (parameters: unknown) => ({
      ...inference,
      tools: [{ type: 'function', function: { name: 'a', parameters } }],
    });
    assert.equal(problemOf(withParameters(nested(100))), null);
    assert.equal(problemOf(withParameters(nested(101))), 'tools[0].function.parameters');
    assert.equal(problemOf(withParameters(nested(15_000))), 'tools[0].function.parameters');
  });

  test('"unique names"', () => {
    assert.equal(problemOf({ ...inference, tools: [tool, tool] }), 'tools[1].function.name');
  });

  test('`tool_choice`: "`auto`, `none`, `required`, or `{type: function, function: {name}}`" of a tool that is offered', () => {
    const forced = { type: 'function', function: { name: 'look_up' } };
    for (const toolChoice of ['auto', 'none', 'required', forced]) {
      assert.equal(problemOf({ ...inference, tools: [tool], tool_choice: toolChoice }), null);
    }
    for (const toolChoice of ['auto', 'none']) assert.equal(problemOf({ ...inference, tool_choice: toolChoice }), null);
    assert.equal(problemOf({ ...inference, tool_choice: 'any', tools: [tool] }), 'tool_choice');
    assert.equal(problemOf({ ...inference, tool_choice: { ...forced, extra: 1 }, tools: [tool] }), 'tool_choice.extra');
    assert.equal(problemOf({ ...inference, tool_choice: 'required' }), 'tool_choice');
    assert.equal(problemOf({ ...inference, tool_choice: 'required', tools: [] }), 'tool_choice');
    assert.equal(
      problemOf({ ...inference, tool_choice: { type: 'function', function: { name: 'b' } }, tools: [tool] }),
      'tool_choice.function.name',
    );
  });
});

describe('"Serialized messages and tools together must fit 64,000 string-length units."', () => {
  /** Messages that serialize to exactly this many units. */
  function messagesOf(units: number) {
    const messages = Array.from({ length: 4 }, () => ({ role: 'user', content: 'x'.repeat(15_900) }));
    messages.push({ role: 'user', content: '' });
    const missing = units - JSON.stringify(messages).length;
    return [...messages.slice(0, 4), { role: 'user', content: 'x'.repeat(missing) }];
  }

  test('64,000 fit and 64,001 do not', () => {
    assert.equal(JSON.stringify(messagesOf(64_000)).length, 64_000);
    assert.equal(problemOf({ ...inference, messages: messagesOf(64_000) }), null);
    assert.equal(problemOf({ ...inference, messages: messagesOf(64_001) }), 'messages');
  });

  test('tools count as they were sent, before their defaults; empty `tools` means none', () => {
    const toolsUnits = JSON.stringify([tool]).length;
    assert.equal(problemOf({ ...inference, messages: messagesOf(64_000 - toolsUnits), tools: [tool] }), null);
    assert.equal(problemOf({ ...inference, messages: messagesOf(64_001 - toolsUnits), tools: [tool] }), 'messages');
    assert.equal(problemOf({ ...inference, messages: messagesOf(64_000), tools: [] }), null);
  });
});

describe('POST /v1/internalizations', () => {
  test('content: "20-16,000 chars"; `max_cost_microusd`: "1,000,000-100,000,000"; `activate`: "default `true`"', () => {
    assert.deepEqual(readRequest(internalizationRequest, learning), {
      kind: 'read',
      value: { ...learning, activate: true },
    });
    assert.equal(learningProblemOf({ ...learning, content: 'x'.repeat(16_000) }), null);
    assert.equal(learningProblemOf({ ...learning, content: 'x'.repeat(19) }), 'content');
    assert.equal(learningProblemOf({ ...learning, content: 'x'.repeat(16_001) }), 'content');
    assert.equal(learningProblemOf({ ...learning, max_cost_microusd: 100_000_000 }), null);
    for (const maxCostMicrousd of [999_999, 100_000_001, 1_000_000.5, '1000000', undefined]) {
      assert.equal(learningProblemOf({ ...learning, max_cost_microusd: maxCostMicrousd }), 'max_cost_microusd');
    }
    assert.equal(learningProblemOf({ ...learning, activate: 'yes' }), 'activate');
  });

  test('"No model selector, hyperparameters, custom validation arrays or extra metadata fields are accepted."', () => {
    for (const field of ['model', 'learning_rate', 'validation', 'metadata', 'adapter_version']) {
      assert.equal(learningProblemOf({ ...learning, [field]: 'x' }), field);
    }
  });
});

describe('POST /v1/adapters/activate', () => {
  const problem = (body: unknown) => {
    const outcome = readRequest(activationRequest, body);
    return outcome.kind === 'read' ? null : outcome.param;
  };

  test('`expected_version_id`: "string or JSON `null`, required"', () => {
    assert.equal(problem({ version_id: 'v', expected_version_id: null }), null);
    assert.equal(problem({ version_id: 'v', expected_version_id: 'base' }), null);
    assert.equal(problem({ version_id: 'v' }), 'expected_version_id');
    assert.equal(problem({ version_id: null, expected_version_id: null }), 'version_id');
  });

  test('"Do not send `subject_id`"', () => {
    assert.equal(problem({ version_id: 'v', expected_version_id: null, subject_id: 's' }), 'subject_id');
  });
});

describe('a reader', () => {
  test('names the path of a field as a caller would write it', () => {
    assert.equal(fieldPath(['messages', 3, 'tool_call_id']), 'messages[3].tool_call_id');
    assert.equal(fieldPath([]), '');
  });

  test('says of a field that is not there that it is required, at every level', () => {
    const messageOf = (body: unknown): string => {
      const outcome = readInferenceRequest(body);
      return outcome.kind === 'read' ? 'read' : `${outcome.param}: ${outcome.message}`;
    };
    assert.equal(messageOf({ messages: [message] }), 'subject_id: this field is required');
    assert.equal(
      messageOf({ ...inference, messages: [{ role: 'user' }] }),
      'messages[0].content: this field is required',
    );
    assert.doesNotMatch(messageOf({ ...inference, subject_id: 5 }), /required/);
    assert.doesNotMatch(messageOf([]), /required/);
  });

  test('echoes no more than a line of what was sent', () => {
    const outcome = readInferenceRequest({ ...inference, ['x'.repeat(90_000)]: 1 });
    assert.ok(outcome.kind === 'invalid' && outcome.param.length <= 300 && outcome.message.length <= 300);
  });

  test('counts the same units in every text', () => {
    const call = { id: '1', type: 'function', function: { name: 'a', arguments: `{"a":"${'😀'.repeat(7_996)}"}` } };
    const called = (toolCall: unknown) => ({
      ...inference,
      messages: [
        { role: 'assistant', content: '', tool_calls: [toolCall] },
        { role: 'tool', content: '', tool_call_id: '1' },
      ],
    });
    assert.equal(call.function.arguments.length, 16_000);
    assert.equal(problemOf(called(call)), null);
    const longer = { ...call, function: { ...call.function, arguments: `${call.function.arguments} ` } };
    assert.equal(problemOf(called(longer)), 'messages[0].tool_calls[0].function.arguments');
    assert.equal(problemOf(called({ ...call, id: '😀'.repeat(65) })), 'messages[0].tool_calls[0].id');
    assert.equal(learningProblemOf({ ...learning, content: '😀'.repeat(8_001) }), 'content');
    assert.equal(learningProblemOf({ ...learning, content: '😀'.repeat(10) }), null);
  });

  test('has an answer to any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        readInferenceRequest(body);
        readRequest(internalizationRequest, body);
        readRequest(activationRequest, body);
      }),
    );
  });
});
