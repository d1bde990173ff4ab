import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../checkpoint/jsonFields.js';
import { tinyTokenizer } from '../testing/randomCheckpoint.js';
import { withTokenizerFiles } from '../testing/tokenizerFiles.js';
import type { ChatPrompt } from '../types.js';
import { ChatTokenizer } from './chatTokenizer.js';

const fixtureFile = fileURLToPath(new URL('../../fixtures/tokenizer/', import.meta.url));

interface Fixture {
  words: JsonObject[];
  /** `ids` are those of the text after a control token, `asked` those of a conversation in which a user says it. */
  cases: { text: string; ids: number[]; decoded: string; asked: number[] }[];
}

const user = (content: string): ChatPrompt => ({ messages: [{ role: 'user', content }] });

/** Makes a `tokenizer.json` with more added tokens. */
function tokenizerWith(words: readonly JsonObject[], original = tinyTokenizer): Record<string, string> {
  const json = JSON.parse(readFileSync(join(original, 'tokenizer.json'), 'utf8')) as { added_tokens: JsonObject[] };
  return { 'tokenizer.json': JSON.stringify({ ...json, added_tokens: [...json.added_tokens, ...words] }) };
}

suite('words that were added to the vocabulary are encoded as by transformers', () => {
  const fixtures = JSON.parse(readFileSync(join(fixtureFile, 'added-words.json'), 'utf8')) as Record<string, Fixture>;
  for (const [name, { words, cases }] of Object.entries(fixtures)) {
    test(name, () =>
      withTokenizerFiles(
        tokenizerWith(words, join(fixtureFile, name)),
        async (folder) => {
          const tokenizer = await ChatTokenizer.load(folder);
          for (const { text, ids, decoded, asked } of cases) {
            assert.deepEqual(tokenizer.encodeCompletion(text), ids, text);
            assert.equal(tokenizer.decode(ids), decoded);
            assert.deepEqual(tokenizer.encodePrompt(user(text)), asked, text);
          }
        },
        join(fixtureFile, name),
      ),
    );
  }
});

suite('an added token', () => {
  const token = (id: number, content: string, special = false): JsonObject => ({ id, content, special });

  test('that is a word leaves control tokens beside and around it what they are', () =>
    withTokenizerFiles(tokenizerWith([token(400, 'im_end'), token(401, 'x<|'), token(402, '|')]), async (folder) => {
      const tokenizer = await ChatTokenizer.load(folder);
      const turns = (text: string): number[] => tokenizer.encodePrompt(user(text)).filter((id) => id <= 2);
      assert.deepEqual(turns('<|im_end|> x<|im_end|> <|im_start|>|'), turns('nothing'));
      assert.ok(tokenizer.encodePrompt(user('x<|im_end|>')).includes(400));
    }));

  for (const content of ['<tool>', '[TOOL]', '<|tool|>', '<｜tool｜>', '｜tool']) {
    test(`that looks like markup is none in what a user writes: ${content}`, () =>
      withTokenizerFiles(tokenizerWith([token(400, content)]), async (folder) => {
        const tokenizer = await ChatTokenizer.load(folder);
        assert.ok(!tokenizer.encodePrompt(user(`a ${content} b`)).includes(400));
        assert.ok(tokenizer.encodeCompletion(`a ${content} b`).includes(400));
      }));
  }

  test('that ends a turn is none in what a user writes, though it is a word', async () => {
    const words = tokenizerWith([token(400, 'OVER'), token(401, 'OUT')]);
    const ends = {
      'tokenizer_config.json': '{"eos_token": "OVER"}',
      'generation_config.json': '{"eos_token_id": 401}',
    };
    await withTokenizerFiles({ ...words, ...ends }, async (folder) => {
      const tokenizer = await ChatTokenizer.load(folder);
      assert.ok(tokenizer.encodePrompt(user('OVER and OUT')).every((id) => id < 400));
    });
  });

  const refuses = (name: string, words: readonly JsonObject[], message: RegExp): void => {
    test(`${name} is refused`, () =>
      withTokenizerFiles(tokenizerWith(words), (folder) =>
        assert.rejects(ChatTokenizer.load(folder), { code: 'checkpoint_invalid', message }),
      ));
  };
  refuses('of one character that controls', [token(400, '#', true)], /added_tokens\[9\]\.content must be .* two/);
  refuses('of one character that is markup', [token(400, '｜')], /added_tokens\[9\]\.content must be .* two/);
  refuses('without a text', [token(400, '')], /added_tokens\[9\]\.content must be a text that is not empty/);
  refuses('that is a word with the id of a control token', [token(1, 'start')], /can spell the token "<\|im_start\|>"/);
});
