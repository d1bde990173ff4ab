/**
 * A text that looks like the model's syntax stays text, whoever wrote it and wherever it stands, unless the model wrote
 * it.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { withTokenizerFiles } from '../testing/tokenizerFiles.js';
import type { ChatPrompt } from '../types.js';
import { ChatTokenizer } from './chatTokenizer.js';

const fixtures = fileURLToPath(new URL('../../fixtures/tokenizer/', import.meta.url));
const base = fileURLToPath(new URL('../../../../models/base/', import.meta.url));
const models = [
  ['base', base],
  ...['tiny', 'llama2', 'llama3', 'mistral', 'qwen25', 'qwen3'].map((name) => [name, join(fixtures, name)] as const),
] as const;

/** The added tokens that look like syntax, by id. The others are words. */
function syntaxOf(modelDir: string): ReadonlyMap<number, string> {
  const { added_tokens } = JSON.parse(readFileSync(join(modelDir, 'tokenizer.json'), 'utf8')) as {
    added_tokens: { id: number; content: string }[];
  };
  const syntax = added_tokens.filter(({ content }) => /<.*>|\[.*\]|｜/su.test(content));
  return new Map(syntax.map(({ id, content }) => [id, content]));
}

/** Texts that mix the tokenizer's own syntax, whole and in pieces, with other characters. */
function hostileText(syntax: Iterable<string>): fc.Arbitrary<string> {
  const tokens = [...syntax].slice(0, 40);
  const pieces = tokens.flatMap((token) => [token, token.slice(0, -1), token.slice(1), `${token}${token}`]);
  const letters = fc.string({
    unit: fc.constantFrom('a', 'b', 'Y', 'Z', '0', '9', ' ', '.', ',', ':', '{', '}', '"', '<', '>', '|', '/'),
  });
  return fc
    .array(fc.oneof(fc.constantFrom(...pieces, '<tool_call>', '</tool_call>', '<|im_end|>', '[INST]'), letters), {
      minLength: 1,
      maxLength: 8,
    })
    .map((parts) => parts.join(''));
}

const question: ChatPrompt = { messages: [{ role: 'user', content: 'What does it say?' }] };
const passage = (content: string): ChatPrompt => ({
  messages: [{ role: 'system', content, markup: false }, ...question.messages],
});

for (const [name, modelDir] of models) {
  const absent = !existsSync(join(modelDir, 'tokenizer.json'));
  suite(`syntax that a text quotes, with the tokenizer ${name}`, { skip: absent && 'no such model here' }, () => {
    test('becomes no token of it in a completion that is to be learned, and is written as it was read', async () => {
      const tokenizer = await ChatTokenizer.load(modelDir);
      const syntax = syntaxOf(modelDir);
      const around = tokenizer.encodeExample(question, 'x');
      const frame = around.tokens.slice(around.targetStart).filter((id) => syntax.has(id));
      fc.assert(
        fc.property(hostileText(syntax.values()), (text) => {
          const { tokens, targetStart } = tokenizer.encodeExample(question, text);
          const targets = tokens.slice(targetStart);
          assert.deepEqual(
            targets.filter((id) => syntax.has(id)),
            frame,
          );
          assert.equal(tokenizer.decode(targets).trim(), text.trim());
        }),
        { numRuns: 150 },
      );
    });

    test('becomes none in a passage', async () => {
      const tokenizer = await ChatTokenizer.load(modelDir);
      const syntax = syntaxOf(modelDir);
      const syntaxIn = (text: string) => tokenizer.encodePrompt(passage(text)).filter((id) => syntax.has(id));
      const frame = syntaxIn('x');
      fc.assert(
        fc.property(hostileText(syntax.values()), (text) => {
          assert.deepEqual(syntaxIn(text), frame);
        }),
        { numRuns: 150 },
      );
    });
  });
}

test('the markup of what the model itself wrote stays markup, and the model’s control tokens stay its own', async () => {
  const tokenizer = await ChatTokenizer.load(base);
  const call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>';
  const idsOf = (text: string, markup?: boolean): number[] => {
    const { tokens, targetStart } = tokenizer.encodeExample(question, text, markup === undefined ? {} : { markup });
    return tokens.slice(targetStart).filter((id) => id <= 8);
  };
  const [start, end] = [3, 4];
  assert.deepEqual(idsOf(call, true), [start, end, tokenizer.endOfTurn]);
  assert.deepEqual(idsOf(call), [tokenizer.endOfTurn]);
  assert.deepEqual(idsOf(`${call}<|im_end|>`, true), [start, end, tokenizer.endOfTurn]);
});

test('tokens that overlap in a text are all taken apart', async () => {
  const tiny = join(fixtures, 'tiny');
  const json = JSON.parse(readFileSync(join(tiny, 'tokenizer.json'), 'utf8')) as { added_tokens: object[] };
  const added = [
    { id: 400, content: '[A][', special: true },
    { id: 401, content: '[B]', special: true },
  ];
  const changes = { 'tokenizer.json': JSON.stringify({ ...json, added_tokens: [...json.added_tokens, ...added] }) };
  await withTokenizerFiles(changes, async (folder) => {
    const tokenizer = await ChatTokenizer.load(folder);
    const { tokens, targetStart } = tokenizer.encodeExample(question, '[A][B]');
    assert.ok(!tokens.slice(targetStart).some((id) => id >= 400));
    assert.ok(tokenizer.encodePrompt({ messages: [{ role: 'user', content: '[A][B]' }] }).every((id) => id < 400));
  });
});
