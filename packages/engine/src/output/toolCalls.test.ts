import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { forcedOpening, parseToolCalls, type CallRules } from './toolCalls.js';

const rules: CallRules = { offered: new Set(['weather', 'time']), truncated: false, single: false };
const call = (body: string): string => `<tool_call>\n${body}\n</tool_call>`;
const osloCall = call('{"name": "weather", "arguments": {"city": "Oslo"}}');
const now = call('{"name": "time", "arguments": {}}');

interface Row {
  readonly name: string;
  readonly output: string;
  readonly rules?: Partial<CallRules>;
  readonly text?: string;
  /** Name and arguments of each call. */
  readonly calls?: readonly (readonly [string, string])[];
  readonly invalid?: RegExp;
  readonly cutOff?: boolean;
}

const oslo = ['weather', '{"city":"Oslo"}'] as const;
const table: readonly Row[] = [
  { name: 'text alone', output: ' Hello. ', text: 'Hello.' },
  { name: 'one call', output: osloCall, calls: [oslo] },
  { name: 'text before a call', output: `Let me see.\n${osloCall}`, text: 'Let me see.', calls: [oslo] },
  {
    name: 'two calls and text between',
    output: `${osloCall}\nand\n${now}`,
    text: 'and',
    calls: [oslo, ['time', '{}']],
  },
  { name: 'only the first of two', output: `${osloCall}${now}`, rules: { single: true }, calls: [oslo] },
  { name: 'no closing tag at the end of the turn', output: osloCall.slice(0, -13), calls: [oslo] },
  {
    name: 'a call cut off by the ceiling',
    output: `So: ${osloCall.slice(0, 30)}`,
    rules: { truncated: true },
    text: 'So:',
    cutOff: true,
  },
  {
    name: 'a second call cut off by the ceiling',
    output: osloCall + now.slice(0, -3),
    rules: { truncated: true },
    calls: [oslo],
    cutOff: true,
  },
  {
    name: 'an opening tag cut off by the ceiling',
    output: 'So: <to',
    rules: { truncated: true },
    text: 'So:',
    cutOff: true,
  },
  {
    name: 'a second opening tag cut off by the ceiling',
    output: `${osloCall}\n<tool_call`,
    rules: { truncated: true },
    calls: [oslo],
    cutOff: true,
  },
  { name: 'what only looks like an opening tag', output: 'a <to', text: 'a <to' },
  { name: 'a whole call at the ceiling', output: osloCall, rules: { truncated: true }, calls: [oslo] },
  {
    name: 'an integer beyond 2^53',
    output: call('{"name": "time", "arguments": {"id": 12345678901234567890}}'),
    calls: [['time', '{"id":12345678901234567890}']],
  },
  { name: 'an unknown function', output: call('{"name": "rm", "arguments": {}}'), invalid: /"rm" was not offered/ },
  { name: 'arguments in a string', output: call('{"name": "time", "arguments": "{}"}'), invalid: /not a JSON object/ },
  { name: 'arguments in a list', output: call('{"name": "time", "arguments": []}'), invalid: /not a JSON object/ },
  { name: 'no arguments', output: call('{"name": "time"}'), invalid: /not a JSON object/ },
  { name: 'no name', output: call('{"arguments": {}}'), invalid: /no name/ },
  { name: 'no object', output: call('[1]'), invalid: /not a JSON object/ },
  { name: 'broken JSON', output: call('{"name": "time", "arguments": {}'), invalid: /not valid JSON/ },
  { name: 'nothing', output: call(''), invalid: /not valid JSON/ },
  { name: 'a good call and a bad one', output: osloCall + call('x'), invalid: /not valid JSON/ },
  {
    name: 'arguments nested beyond reason',
    output: call(`{"name": "time", "arguments": {"a": ${'['.repeat(20_000)}${']'.repeat(20_000)}}}`),
    invalid: /nested too deeply|not valid JSON/,
  },
  { name: 'a prototype name', output: call('{"name": "__proto__", "arguments": {}}'), invalid: /was not offered/ },
];

suite('tool calls in the output', () => {
  for (const row of table) {
    test(row.name, () => {
      const parsed = parseToolCalls(row.output, { ...rules, ...row.rules });
      if (row.invalid === undefined) assert.equal(parsed.invalid, undefined);
      else assert.match(parsed.invalid ?? '', row.invalid);
      assert.equal(parsed.text, row.text ?? '');
      assert.deepEqual(
        parsed.calls.map((made) => [made.name, made.arguments]),
        row.calls ?? [],
      );
      assert.equal(parsed.cutOff, row.cutOff ?? false);
      for (const { id } of parsed.calls) assert.match(id, /^call_[0-9a-f]{24}$/);
      assert.equal(new Set(parsed.calls.map(({ id }) => id)).size, parsed.calls.length);
    });
  }

  test('a forced opening continues into a call', () => {
    const required = forcedOpening({ kind: 'required' }) + ' "time", "arguments": {}}</tool_call>';
    assert.equal(parseToolCalls(required, rules).calls[0]?.name, 'time');
    const named = forcedOpening({ kind: 'function', name: 'weather' }) + ' {"city": "Oslo"}}</tool_call>';
    assert.equal(parseToolCalls(named, rules).calls[0]?.arguments, '{"city":"Oslo"}');
    assert.equal(forcedOpening({ kind: 'auto' }), '');
    assert.equal(forcedOpening(undefined), '');
  });
});
