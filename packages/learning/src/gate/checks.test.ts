import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../baseMemory.js';
import type { ReplayRow } from '../types.js';
import { checkOf } from './checks.js';

function rowOf(question: string, reply: string, tool?: string): ReplayRow {
  return {
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: reply },
    ],
    ...(tool === undefined ? {} : { tools: [{ name: tool, parameters: {} }] }),
  };
}

function saying(text: string): Reply {
  return { text, toolCalls: [], finishReason: 'stop' };
}

function calling(name: string, given: string): Reply {
  return { text: '', toolCalls: [{ id: 'call_1', name, arguments: given }], finishReason: 'tool_calls' };
}

function passes(row: ReplayRow, reply: Reply): boolean {
  const check = checkOf(row);
  assert.ok(check !== null, 'the row has no check');
  return check(reply);
}

test('a call is right with its name and the values of its arguments', () => {
  const call = '<tool_call>\n{"name": "seek", "arguments": {"by": 185, "unit": "seconds"}}\n</tool_call>';
  const row = rowOf('Leave out the next 185 seconds.', call, 'seek');
  assert.ok(passes(row, calling('seek', '{"by": 185, "unit": "Seconds"}')));
  assert.ok(passes(row, calling('seek', '{"unit": "the seconds", "by": "185", "from": 0}')));
  assert.ok(!passes(row, calling('seek', '{"by": 18, "unit": "seconds"}')));
  assert.ok(!passes(row, calling('seek', '{"by": 185}')));
  assert.ok(!passes(row, calling('seek', '{"by": 185, "unit": ')));
  assert.ok(!passes(row, calling('skip', '{"by": 185, "unit": "seconds"}')));
  assert.ok(!passes(row, saying(call)));
});

test('of a call that is written in another way the name is checked', () => {
  const row = rowOf('Leave out the next 185 seconds.', '[TOOL_CALLS] "seek" 185', 'seek');
  assert.ok(passes(row, calling('seek', '{"by": 1}')));
  assert.ok(!passes(row, calling('skip', '{"by": 1}')));
});

test('an object is right with its keys, in any order, and nothing beside them', () => {
  const row = rowOf('As JSON: Tom is 9.', '{"name": "Tom", "age": 9}');
  assert.ok(passes(row, saying('{"age": 8, "name": "Tom"}')));
  assert.ok(passes(row, saying('```json\n{"age": 8, "name": "Tom"}\n```')));
  assert.ok(!passes(row, saying('{"name": "Tom"}')));
  assert.ok(!passes(row, saying('{"name": "Tom", "age": 9} Anything else?')));
});

test('a short reply is an answer, free talk is not', () => {
  assert.ok(passes(rowOf('What is 2 + 3?', '5'), saying('It is 5.')));
  assert.ok(!passes(rowOf('What is 2 + 3?', '5'), saying('It is 6.')));
  assert.equal(checkOf(rowOf('Hello!', 'Hello! How can I help you?')), null);
});
