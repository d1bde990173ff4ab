import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { createRandom } from '../support/random.js';
import { tinyTokenizer, withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { withTokenizerFiles } from '../testing/tokenizerFiles.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { GenerateRequest } from '../types.js';
import { bannedTokens, tokenlessIds } from './bannedTokens.js';
import { sample } from './sampler.js';

const tools = [{ name: 'time', parameters: { type: 'object' } }];
const callMarkup = ['<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>'];
const thoughtMarkup = ['<think>', '</think>'];
const thinkingTemplate = 'chat_template.jinja';
/** A template that writes turns but neither thoughts nor calls. */
const plainTemplate = `{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}<|im_start|>assistant
`;
/** Like Qwen3's template, this writes an empty thought where thinking is switched off. */
const thinkingSwitch = `{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}`;

const request = (changes: Partial<GenerateRequest['prompt']> = {}, toolChoice?: 'none'): GenerateRequest => ({
  prompt: { messages: [{ role: 'user', content: 'Hi' }], ...changes },
  adapter: null,
  maxOutputTokens: 40,
  temperature: 0,
  ...(toolChoice === undefined ? {} : { toolChoice: { kind: toolChoice } }),
});

/** The texts of the banned tokens, in the order of their ids. */
async function bannedIn(folder: string, asked: GenerateRequest): Promise<string[]> {
  const tokenizer = await ChatTokenizer.load(folder);
  const known = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', ...thoughtMarkup, ...callMarkup];
  const idOf = (text: string): number => knownIds[known.indexOf(text)] ?? NaN;
  const banned = bannedTokens(tokenizer, asked);
  assert.ok(banned.every((id) => knownIds.includes(id)));
  return known.filter((text) => banned.includes(idOf(text)));
}
const knownIds = [0, 1, 2, 378, 379, 380, 381, 382, 383];

suite(
  'Where no call may be returned, call markup is never generated, nor any other control markup of the template.',
  () => {
    test('without tools, and with those that may not be called', async () => {
      for (const asked of [request(), request({ tools: [] }), request({ tools }, 'none')]) {
        assert.deepEqual(await bannedIn(tinyTokenizer, asked), ['<|im_start|>', ...callMarkup]);
      }
      assert.deepEqual(await bannedIn(tinyTokenizer, request({ tools })), []);
    });

    test('tags of thoughts where thinking is off or not offered', async () => {
      const thoughtsBannedIn = async (template: string, thinking: boolean | undefined): Promise<string[]> => {
        const asked = request(thinking === undefined ? {} : { thinking });
        let banned: string[] = [];
        await withTokenizerFiles({ [thinkingTemplate]: template }, async (folder) => {
          banned = (await bannedIn(folder, asked)).filter((text) => thoughtMarkup.includes(text));
        });
        return banned;
      };
      for (const thinking of [undefined, false, true]) {
        assert.deepEqual(await thoughtsBannedIn(plainTemplate, thinking), thoughtMarkup);
        // This template has no switch for thoughts, so its model always thinks.
        assert.deepEqual(await thoughtsBannedIn(`${plainTemplate}<think>\n`, thinking), []);
        assert.deepEqual(await thoughtsBannedIn(`{# <think> #}${plainTemplate}`, thinking), []);
      }
      assert.deepEqual(await thoughtsBannedIn(plainTemplate + thinkingSwitch, false), thoughtMarkup);
      for (const thinking of [undefined, true]) {
        assert.deepEqual(await thoughtsBannedIn(plainTemplate + thinkingSwitch, thinking), []);
      }
    });

    test('a token that ends the generation may be drawn, and markup that is no part of the template', async () => {
      const tokenizer = await ChatTokenizer.load(tinyTokenizer);
      const banned = bannedTokens(tokenizer, request());
      for (const id of tokenizer.stopTokens) assert.ok(!banned.includes(id));
      await withTokenizerFiles({ 'generation_config.json': '{"eos_token_id": [0, 1, 2]}' }, async (folder) => {
        assert.deepEqual(await bannedIn(folder, request()), callMarkup);
      });
      const { added_tokens, ...rest } = JSON.parse(readFileSync(join(tinyTokenizer, 'tokenizer.json'), 'utf8')) as {
        added_tokens: object[];
      };
      const table = { id: 384, content: '<table>', special: false };
      const changed = JSON.stringify({ ...rest, added_tokens: [...added_tokens, table] });
      for (const [template, isBanned] of [
        [plainTemplate, false],
        [`{# <table> #}${plainTemplate}`, true],
      ] as const) {
        await withTokenizerFiles({ 'tokenizer.json': changed, [thinkingTemplate]: template }, async (folder) => {
          assert.equal(bannedTokens(await ChatTokenizer.load(folder), request()).includes(384), isBanned);
        });
      }
    });
  },
);

suite('A banned token', () => {
  test('is never drawn, and the logits are afterwards what they were', () => {
    for (const temperature of [0, 0.7]) {
      const random = createRandom(5);
      const logits = Float32Array.of(9, 1, 8, 0.5, NaN);
      const before = [...logits];
      for (let draw = 0; draw < 300; draw += 1) {
        assert.ok([1, 3].includes(sample(logits, { temperature, banned: [0, 2] }, random)));
      }
      assert.deepEqual([...logits], before);
    }
  });

  test('makes no difference where it would not have been drawn', () => {
    const logits = Float32Array.from({ length: 50 }, (_, id) => Math.sin(id * 7));
    logits.set([-Infinity, -Infinity], 3);
    const draws = (banned: readonly number[]): number[] => {
      const random = createRandom(9);
      return Array.from({ length: 200 }, () => sample(logits, { temperature: 0.8, banned }, random));
    };
    assert.deepEqual(draws([3, 4]), draws([]));
  });

  test('does not come out of an engine, whatever its model would like', async () => {
    await withRandomCheckpoint(async (folder) => {
      const engine = await EmbeddedEngine.open({ modelDir: join(folder, 'model'), threads: 1 });
      try {
        // At this temperature a random model draws all of its 384 tokens about equally often. Six of them are markup.
        const ask = (tools: NonNullable<GenerateRequest['prompt']['tools']>, seed: number) =>
          engine.generate({ ...request({ tools }), maxOutputTokens: 400, temperature: 50, seed });
        const seeds = [0, 1, 2, 3, 4, 5];
        const free = await Promise.all(seeds.map((seed) => ask(tools, seed)));
        assert.ok(free.some(({ invalidToolCall }) => invalidToolCall !== undefined));
        const texts = (await Promise.all(seeds.map((seed) => ask([], seed)))).map(({ text }) => text);
        assert.doesNotMatch(texts.join('\n'), new RegExp(callMarkup.join('|')));
        assert.ok(texts.join('').length > 200, 'there is something to look at');
      } finally {
        await engine.close();
      }
    });
  });
});

test('ids that have no token are those of the padding and of holes, but for what ends an answer', () =>
  withTokenizerFiles({ 'generation_config.json': '{"eos_token_id": [0, 385]}' }, async (folder) => {
    assert.deepEqual(tokenlessIds(await ChatTokenizer.load(tinyTokenizer), 384), []);
    assert.deepEqual(tokenlessIds(await ChatTokenizer.load(folder), 388), [384, 386, 387]);
  }));
