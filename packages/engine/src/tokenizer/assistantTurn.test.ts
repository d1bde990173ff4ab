import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { composeReply } from '../output/reply.js';
import { withTokenizerFiles } from '../testing/tokenizerFiles.js';
import type { ChatMessage, ChatPrompt } from '../types.js';
import { ChatTokenizer } from './chatTokenizer.js';

const fixtureFolder = fileURLToPath(new URL('../../fixtures/tokenizer/', import.meta.url));
const fixtures = JSON.parse(readFileSync(join(fixtureFolder, 'turns.json'), 'utf8')) as Record<
  string,
  { messages: ChatMessage[]; answer: string; ids: number[] }[]
>;
const who: ChatPrompt = { messages: [{ role: 'user', content: 'Who?' }] };
const tools = [{ name: 'time', parameters: { type: 'object' } }];

/** The answer that a caller gets when the model repeats the tokens of an example. */
function recalled(tokenizer: ChatTokenizer, prompt: ChatPrompt, answer: string): string {
  const { tokens, targetStart } = tokenizer.encodeExample(prompt, answer);
  const asked = { prompt, adapter: null, maxOutputTokens: 100, temperature: 0 };
  const generation = { tokens: tokens.slice(targetStart), ended: 'stop', reusedTokens: 0, logprob: 0 } as const;
  return composeReply(tokenizer, asked, targetStart, generation).text;
}

suite('an example has the tokens that transformers gives the turn where the conversation goes on', () => {
  for (const [name, cases] of Object.entries(fixtures)) {
    test(name, async () => {
      const tokenizer = await ChatTokenizer.load(join(fixtureFolder, name));
      for (const { messages, answer, ids } of cases) {
        const { tokens, targetStart } = tokenizer.encodeExample({ messages }, answer);
        assert.deepEqual(tokens, ids, JSON.stringify(answer));
        assert.deepEqual(tokens.slice(0, targetStart), tokenizer.encodePrompt({ messages }));
        assert.equal(recalled(tokenizer, { messages }, answer), answer.trim());
      }
    });
  }
});

/** Makes a template. It writes `answer` for an assistant's message, and `opening` to ask for the next one. */
const templateOf = (answer: string, opening = '<|im_start|>assistant\n'): string =>
  `{%- for m in messages %}{% if m.role == 'assistant' %}${answer}{% else %}<|im_start|>user\n{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}{{ '${opening}' }}`;

suite('the turn of an assistant', () => {
  const withTemplate = (template: string, use: (tokenizer: ChatTokenizer) => void, more = {}): Promise<void> =>
    withTokenizerFiles({ 'chat_template.jinja': template, ...more }, async (folder) => {
      use(await ChatTokenizer.load(folder));
    });
  /** The text of an example after its prompt, and the id of its last token. */
  const target = (tokenizer: ChatTokenizer, answer: string, prompt = who): [string, number | undefined] => {
    const { tokens, targetStart } = tokenizer.encodeExample(prompt, answer);
    return [tokenizer.decode(tokens.slice(targetStart)), tokens.at(-1)];
  };

  test('has what the template writes before and after an answer', () =>
    withTemplate(templateOf('<|im_start|>assistant\n: {{ m.content }} ;<|im_end|>\n'), (tokenizer) => {
      assert.deepEqual(target(tokenizer, ' a '), [':  a  ;', 2]);
      assert.equal(recalled(tokenizer, who, ' a '), ' a ');
      assert.equal(tokenizer.decode(tokenizer.encodeOpening(who, '<tool_call>')), ': <tool_call>');
      assert.deepEqual(tokenizer.encodeOpening(who, ''), []);
    }));

  test('has its own white space where the template takes the answer’s away', () =>
    withTemplate(templateOf("<|im_start|>assistant\n{{ '  ' + m.content | trim }}<|im_end|>\n"), (tokenizer) => {
      assert.deepEqual(target(tokenizer, '\na '), ['  a', 2]);
      assert.equal(recalled(tokenizer, who, '\na '), 'a');
    }));

  test('ends with the token that the template writes, if generation ends with it', () =>
    withTemplate(templateOf('<|im_start|>assistant\n{{ m.content }}<|endoftext|>'), (tokenizer) => {
      assert.deepEqual(target(tokenizer, 'a'), ['a', 0]);
    }));

  test('is of the template for tools where there are tools', () =>
    withTemplate(
      templateOf('<|im_start|>assistant\n{{ m.content }}<|im_end|>\n'),
      (tokenizer) => {
        assert.deepEqual(target(tokenizer, 'a'), ['a', 2]);
        assert.deepEqual(target(tokenizer, 'a', { ...who, tools }), ['> a', 2]);
      },
      {
        'additional_chat_templates/tool_use.jinja': `{{ tools[0].function.name }}${templateOf('<|im_start|>assistant\n> {{ m.content }}<|im_end|>\n')}`,
      },
    ));

  const unread: readonly (readonly [string, string])[] = [
    [
      'leaves out thoughts',
      templateOf('<|im_start|>assistant\n: {{ m.content }}<|im_end|>\n', '<|im_start|>assistant\n<think>\n'),
    ],
    ['leaves out answers', templateOf('')],
    ['repeats answers', templateOf('<|im_start|>assistant\n: {{ m.content }}{{ m.content }}<|im_end|>\n')],
    ['ends no answer', templateOf('<|im_start|>assistant\n: {{ m.content }}\n')],
    ['ends answers with another token', templateOf('<|im_start|>assistant\n: {{ m.content }}<|im_start|><|im_end|>')],
    ['refuses answers', templateOf('{{ raise_exception("none") }}')],
  ];
  for (const [name, template] of unread) {
    test(`is the answer and the usual end where a template ${name}`, () =>
      withTemplate(template, (tokenizer) => {
        assert.deepEqual(target(tokenizer, ' a '), [' a ', 2]);
        assert.equal(recalled(tokenizer, { ...who, thinking: false }, 'a'), name === 'leaves out thoughts' ? '' : 'a');
      }));
  }

  test('begins with the answer where its first character would be one token with the prompt’s last', async () => {
    const tokenizer = await ChatTokenizer.load(join(fixtureFolder, 'qwen3'));
    const { tokens, targetStart } = tokenizer.encodeExample(who, '\n\nAda');
    assert.deepEqual(tokens.slice(0, targetStart), tokenizer.encodePrompt(who));
    assert.equal(tokenizer.decode(tokens.slice(targetStart)), '\n\nAda');
  });
});
