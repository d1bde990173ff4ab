import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatMessage, ToolDefinition } from '../types.js';
import { ChatTemplate } from './chatTemplate.js';

const weather = '{"city": "Paris", "days": 2.0, "at": {"hours": [1e-07]}}';
const called: readonly ChatMessage[] = [
  { role: 'user', content: 'Weather in Paris?' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: weather }] },
  { role: 'tool', content: '20 C', toolCallId: 'call_1' },
];

/** How DeepSeek's templates write messages and calls, without what is between them. */
const deepSeek = `{%- for message in messages -%}
{%- if message['role'] == 'assistant' and message['content'] is none -%}
{%- for tool in message['tool_calls'] -%}
{{ '<call>' + tool['function']['name'] + '\n' + tool['function']['arguments'] + '</call>' }}
{%- endfor -%}
{%- else -%}{{ '<' + message['role'] + '>' + message['content'] }}{%- endif -%}
{%- endfor -%}`;
/** Like Qwen's. */
const usual = `{%- for message in messages -%}
{{ '<' + message.role + '>' + message.content }}
{%- for tool in message.tool_calls or [] %}<call>{{ tool.function.name }} {{ tool.function.arguments|tojson }}</call>{% endfor -%}
{%- endfor -%}`;

function rendered(template: string, messages = called, tools: readonly ToolDefinition[] = []): string {
  return new ChatTemplate({ default: template }, {}).render({ messages, tools }, (text) => text);
}

test('where a template joins arguments with a text, they are the text that was sent', () => {
  assert.equal(rendered(deepSeek), `<user>Weather in Paris?<call>get_weather\n${weather}</call><tool>20 C`);
});

test('where a template writes calls beside no content only, an empty one is none', () => {
  const tools = [{ name: 'get_weather', parameters: {} }];
  const named = `{% if tools %}{{ tools[0].function.name }}{% endif %}${deepSeek}`;
  assert.match(rendered(named, called, tools), /^get_weather<user>.*<call>get_weather/);
  const silent: ChatMessage = { role: 'assistant', content: '' };
  assert.match(rendered(deepSeek, [...called, silent]), /<tool>20 C<assistant>$/);
});

test('other templates get an empty text and the arguments as a value', () => {
  assert.equal(rendered(usual), `<user>Weather in Paris?<assistant><call>get_weather ${weather}</call><tool>20 C`);
});

test('what a caller writes into arguments is made harmless as a text, too', () => {
  const template = new ChatTemplate({ default: deepSeek }, {});
  const text = template.render({ messages: called }, (part) => part.replaceAll('Paris', 'P|aris'));
  assert.equal(text.includes('Paris'), false);
});

test('a template that joins a text with a list for another reason refuses the conversation', () => {
  assert.throws(() => rendered(`${usual}{{ 'a' + messages }}`), { code: 'invalid_request', message: /joins a text/ });
});
