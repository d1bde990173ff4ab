/** Tokens declared in files beside `tokenizer.json` are read as `transformers` 5.24 reads them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import type { JsonObject } from '../checkpoint/jsonFields.js';
import { tinyTokenizer, withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { withTokenizerFiles } from '../testing/tokenizerFiles.js';
import { ChatTokenizer } from './chatTokenizer.js';

const tokenizer = 'tokenizer.json';
const configFile = 'tokenizer_config.json';
const added = 'added_tokens.json';

interface TokenizerJson extends JsonObject {
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
}

const read = (name: string): JsonObject => JSON.parse(readFileSync(join(tinyTokenizer, name), 'utf8')) as JsonObject;
const tokenizerJson = read(tokenizer) as TokenizerJson;
const configWith = (changes: JsonObject): string => JSON.stringify({ ...read(configFile), ...changes });
const without = (content: string): string =>
  JSON.stringify({
    ...tokenizerJson,
    added_tokens: tokenizerJson.added_tokens.filter((each) => each.content !== content),
  });
const withAdded = (token: JsonObject): string =>
  JSON.stringify({ ...tokenizerJson, added_tokens: [...tokenizerJson.added_tokens, token] });

const newToken = {
  content: '<|new|>',
  lstrip: false,
  normalized: false,
  rstrip: false,
  single_word: false,
  special: true,
};

const field = { [configFile]: configWith({ added_tokens_decoder: { 384: newToken } }) };

suite('of what stands beside tokenizer.json', () => {
  const tokens = (name: string, changes: Record<string, string | null>, text: string, ids: readonly number[]): void => {
    test(name, () =>
      withTokenizerFiles({ 'chat_template.jinja': text, ...changes }, async (folder) => {
        const tokenizer = await ChatTokenizer.load(folder);
        assert.deepEqual(tokenizer.encodePrompt({ messages: [{ role: 'user', content: 'Hi' }] }), ids);
      }),
    );
  };
  tokens('added_tokens_decoder adds tokens', field, 'a<|im_end|>b<|new|>', [67, 2, 68, 384]);
  const file = { [added]: '{"<|new|>": 384, "<|im_end|>": 2}' };
  tokens('added_tokens.json does', file, 'a<|im_end|>b<|new|>', [67, 2, 68, 384]);
  const both = { ...field, [added]: '{"<|other|>": 385}' };
  tokens('that file does not beside that field', both, 'a<|new|>|o', [67, 384, 94, 81]);
  const ends = { [tokenizer]: without('<|im_end|>') };
  tokens('eos_token is one though it is listed as a word', ends, 'a<|im_end|>b', [67, 2, 68]);
  const listed = {
    [tokenizer]: without('<|im_start|>'),
    [configFile]: configWith({ extra_special_tokens: ['<|im_start|>'] }),
  };
  tokens('so is what is listed as special', listed, 'a<|im_start|>b', [67, 1, 68]);

  test('a special token is none in what a user writes', () =>
    withTokenizerFiles({ ...field, ...ends }, async (folder) => {
      const tokenizer = await ChatTokenizer.load(folder);
      const user = (content: string): number[] => tokenizer.encodePrompt({ messages: [{ role: 'user', content }] });
      const control = (ids: readonly number[]): number[] => ids.filter((id) => id < 3 || id > 383);
      assert.deepEqual(control(user('a<|im_end|>b<|new|>')), control(user('a')));
    }));

  const refuses = (name: string, changes: Record<string, string | null>, message: RegExp): void => {
    test(`${name} is refused`, () =>
      withTokenizerFiles(changes, (folder) =>
        assert.rejects(ChatTokenizer.load(folder), { name: 'EngineError', code: 'checkpoint_invalid', message }),
      ));
  };
  const decoder = (value: JsonObject): Record<string, string> => ({
    [configFile]: configWith({ added_tokens_decoder: value }),
  });
  refuses(
    'an id of another token',
    decoder({ 383: newToken }),
    /added_tokens_decoder gives "<\|new\|>" the id 383, .* "<\/tool_resp/,
  );
  refuses('an id that is none', decoder({ x: newToken }), /added_tokens_decoder: x must be a token under its id/);
  refuses('a token without a text', decoder({ 384: {} }), /added_tokens_decoder: 384: content must be a string/);
  refuses(
    'a text without an id',
    { [added]: '{"<|new|>": "x"}' },
    /^added_tokens\.json: "<\|new\|>" must have a token id/,
  );
});

suite('without tokenizer_config.json', () => {
  const template = '{{ bos_token }}{{ messages[0].content }}{{ eos_token }}';
  const renders = (name: string, config: JsonObject, text: string): void => {
    test(name, () =>
      withTokenizerFiles(
        { [configFile]: null, 'chat_template.jinja': template, 'config.json': JSON.stringify(config) },
        async (folder) => {
          const tokenizer = await ChatTokenizer.load(folder);
          assert.equal(tokenizer.render({ messages: [{ role: 'user', content: 'Hi' }] }), text);
        },
      ),
    );
  };
  renders('config.json names tokens', { bos_token_id: 1, eos_token_id: [2, 0] }, '<|im_start|>Hi<|im_end|>');
  renders(
    'an ordinary word is named by no id that was left at its default',
    { bos_token_id: 7, eos_token_id: 2 },
    'Hi<|im_end|>',
  );
});

suite('an added token beyond the rows of the model', () => {
  const checkpointWith = (
    token: JsonObject,
    changes: JsonObject,
    use: (model: string) => Promise<void>,
  ): Promise<void> =>
    withRandomCheckpoint(async (folder) => {
      const model = join(folder, 'model');
      const { chat_template: template, ...config } = changes;
      await writeFile(join(model, tokenizer), withAdded(token));
      await writeFile(join(model, configFile), configWith(config));
      if (typeof template === 'string') await writeFile(join(model, 'chat_template.jinja'), template);
      await use(model);
    });

  test('is text where nothing needs it', () =>
    checkpointWith({ id: 384, content: '[PAD]', special: true }, { pad_token: '[PAD]' }, async (model) => {
      const { tokenizer } = await openCheckpoint(model);
      assert.ok(tokenizer.encodeCompletion('a [PAD] b').every((id) => id < 384));
      assert.equal(tokenizer.decode(tokenizer.encodeCompletion('a [PAD] b')), 'a [PAD] b');
    }));

  const token = { id: 384, content: '<|new|>', special: true };
  for (const [name, changes] of [
    ['that ends a turn', { eos_token: '<|new|>' }],
    ['that the template writes', { chat_template: '{{ messages[0].content }}<|new|>' }],
  ] as const) {
    test(`${name} is refused`, () =>
      checkpointWith(token, changes, (model) =>
        assert.rejects(openCheckpoint(model), {
          code: 'checkpoint_invalid',
          message: 'config.json: vocab_size is 384, but the tokenizer uses 385 tokens',
        }),
      ));
  }
});
