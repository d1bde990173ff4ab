import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../baseMemory.js';
import type { ReplayRow } from '../types.js';
import { checkOf } from './checks.js';

function rowOf(question: string, reply: string, ...tools: readonly string[]): ReplayRow {
  return {
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: reply },
    ],
    ...(tools.length === 0 ? {} : { tools: tools.map((name) => ({ name, parameters: {} })) }),
  };
}

function saying(text: string): Reply {
  return { text, toolCalls: [], finishReason: 'stop' };
}

function calling(...calls: readonly (readonly [name: string, given: string])[]): Reply {
  const toolCalls = calls.map(([name, given], index) => ({ id: `call_${index}`, name, arguments: given }));
  return { text: '', toolCalls, finishReason: 'tool_calls' };
}

function written(name: string, given: string): string {
  return `<tool_call>\n{"name": "${name}", "arguments": ${given}}\n</tool_call>`;
}

function passes(row: ReplayRow, reply: Reply): boolean {
  const check = checkOf(row);
  assert.ok(check !== null, 'the row has no check');
  return check(reply);
}

test('a call is right with its name and its arguments', () => {
  const call = written('seek', '{"by": 185, "mode": "search"}');
  const row = rowOf('Leave out the next 185 seconds.', call, 'search', 'seek');
  assert.ok(passes(row, calling(['seek', '{"by": 185, "mode": "Search"}'])));
  assert.ok(passes(row, calling(['seek', '{"mode": "search", "by": "185"}'])));
  assert.ok(!passes(row, calling(['seek', '{"by": 18, "mode": "search"}'])));
  assert.ok(!passes(row, calling(['seek', '{"by": 185}'])));
  assert.ok(!passes(row, calling(['seek', '{"by": 185, "mode": "search", "from": 3}'])));
  assert.ok(!passes(row, calling(['seek', '{"by": 185, "mode": '])));
  assert.ok(!passes(row, calling(['search', '{"by": 185, "mode": "search"}'])));
  assert.ok(!passes(row, saying(call)));
});

test('all calls of a reply must be right, in their order', () => {
  const row = rowOf('Lock up.', written('lock', '{"door": 1}') + written('dim', '{}'), 'dim', 'lock');
  assert.ok(passes(row, calling(['lock', '{"door": 1}'], ['dim', '{}'])));
  assert.ok(!passes(row, calling(['dim', '{}'], ['lock', '{"door": 1}'])));
  assert.ok(!passes(row, calling(['lock', '{"door": 1}'])));
  assert.ok(!passes(row, calling(['lock', '{"door": 1}'], ['dim', '{}'], ['dim', '{}'])));
});

test('a row whose reply is text is checked as text, although functions are offered', () => {
  const row = rowOf('What is 2 + 3?', '5', 'dim');
  assert.ok(passes(row, saying('5')));
  assert.ok(!passes(row, calling(['dim', '{}'])));
});

test('an object is right with its keys, whatever their order and values, and nothing beside them', () => {
  const row = rowOf('As JSON: Tom is 9.', '{"name": "Tom", "age": 9}');
  assert.ok(passes(row, saying('{"age": 8, "name": "Tom"}')));
  assert.ok(passes(row, saying('```json\n{"age": 8, "name": "Tom"}\n```')));
  assert.ok(!passes(row, saying('{"name": "Tom"}')));
  assert.ok(!passes(row, saying('{"name": "Tom", "age": 9, "city": "Riga"}')));
  assert.ok(!passes(row, saying('{"name": "Tom", "age": 9} Anything else?')));
});

test('a row may say which answers are right', () => {
  const row = { ...rowOf('Who wrote it?', 'It was written by Ida Holm, I think.'), expected: ['Ida Holm'] };
  assert.ok(passes(row, saying('Ida Holm wrote it.')));
  assert.ok(!passes(row, saying('I think so.')));
});

test('a short reply is an answer, free talk is not', () => {
  assert.ok(passes(rowOf('What is 2 + 3?', '5'), saying('It is 5.')));
  assert.ok(!passes(rowOf('What is 2 + 3?', '5'), saying('It is 6.')));
  assert.equal(checkOf(rowOf('Hello!', 'Hello! How can I help you?')), null);
});
