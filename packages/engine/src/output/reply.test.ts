import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import fc from 'fast-check';
import { tinyTokenizer } from '../testing/randomCheckpoint.js';
import { withTokenizerFiles } from '../testing/tokenizerFiles.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { GenerateRequest, GenerateResult } from '../types.js';
import { composeReply, singleCallEnd } from './reply.js';

const offeredTools = [{ name: 'time', parameters: { type: 'object' } }];
interface TokenizerJson {
  readonly added_tokens: readonly object[];
}
const call = '<tool_call>\n{"name": "time", "arguments": {}}\n</tool_call>';

suite('the reply for generated tokens', () => {
  let tokenizer: ChatTokenizer;
  before(async () => {
    tokenizer = await ChatTokenizer.load(tinyTokenizer);
  });

  const request = (changes: Partial<GenerateRequest> = {}, tools = offeredTools): GenerateRequest => ({
    prompt: { messages: [{ role: 'user', content: 'Hi' }], tools },
    adapter: null,
    maxOutputTokens: 100,
    temperature: 0,
    ...changes,
  });
  const reply = (text: string, ended: 'stop' | 'length', asked = request()): GenerateResult => {
    const end = ended === 'stop' ? [tokenizer.endOfTurn] : [];
    const tokens = [...tokenizer.encodeCompletion(text), ...end];
    return composeReply(tokenizer, asked, 7, { tokens, ended, reusedTokens: 3, logprob: 0 });
  };

  test('is the text without the end of the turn, which counts', () => {
    const { text, finishReason, usage } = reply('Ada Kell.', 'stop');
    assert.equal(text, 'Ada Kell.');
    assert.equal(finishReason, 'stop');
    const outputTokens = tokenizer.encodeCompletion('Ada Kell.').length + 1;
    assert.deepEqual(usage, { inputTokens: 7, outputTokens, cachedInputTokens: 3, reasoningTokens: 0 });
  });

  test('is without the token that ended it also where that token is not special', async () => {
    const json = JSON.parse(await readFile(join(tinyTokenizer, 'tokenizer.json'), 'utf8')) as TokenizerJson;
    const plainTokens = json.added_tokens.map((token) => ({ ...token, special: false }));
    const [ordinary = 0] = tokenizer.encodeCompletion('!');
    const files = {
      'tokenizer.json': JSON.stringify({ ...json, added_tokens: plainTokens }),
      'generation_config.json': JSON.stringify({ eos_token_id: [0, ordinary] }),
    };
    await withTokenizerFiles(files, async (folder) => {
      const plain = await ChatTokenizer.load(folder);
      const replyTo = (text: string, end: number, asked = request()): GenerateResult => {
        const tokens = [...plain.encodeCompletion(text), end];
        return composeReply(plain, asked, 7, { tokens, ended: 'stop', reusedTokens: 0, logprob: 0 });
      };
      const length = plain.encodeCompletion('I do not know.').length;
      for (const end of [...plain.stopTokens, plain.endOfTurn, ordinary]) {
        assert.notEqual(plain.decode([end, end]), '', 'elsewhere the token has a text');
        for (const asked of [request(), request({}, [])]) {
          const { text, usage } = replyTo('I do not know.', end, asked);
          assert.deepEqual([text, usage.outputTokens], ['I do not know.', length + 1]);
        }
        const { text, toolCalls } = replyTo(call, end);
        assert.deepEqual([text, toolCalls.length], ['', 1]);
        const { usage, text: none } = replyTo('<think>\nHm', end);
        assert.deepEqual([none, usage.reasoningTokens], ['', usage.outputTokens]);
      }
    });
  });

  test('leaves reasoning out and counts it', () => {
    const thought = '<think>\nHm, well.\n</think>';
    const { text, usage } = reply(`${thought}\n\nAda.`, 'stop');
    assert.equal(text, 'Ada.');
    assert.equal(usage.reasoningTokens, tokenizer.encodeCompletion(thought).length);
    const unfinished = reply('<think>\nHm', 'length');
    assert.equal(unfinished.text, '');
    assert.equal(unfinished.finishReason, 'length');
    assert.equal(unfinished.usage.reasoningTokens, unfinished.usage.outputTokens);
    assert.equal(reply('The tag </think> ends thoughts.', 'stop').text, 'The tag </think> ends thoughts.');
  });

  test('holds the calls of offered functions', () => {
    const { text, finishReason, toolCalls } = reply(`Wait.\n${call}`, 'stop');
    assert.equal(text, 'Wait.');
    assert.equal(finishReason, 'tool_calls');
    assert.deepEqual(
      toolCalls.map(({ name, arguments: values }) => [name, values]),
      [['time', '{}']],
    );
    const cut = reply(`Wait.\n${call.slice(0, 30)}`, 'length');
    assert.deepEqual([cut.text, cut.finishReason, cut.toolCalls.length], ['Wait.', 'length', 0]);
    const unknown = reply(call.replace('time', 'rm'), 'stop');
    assert.match(unknown.invalidToolCall ?? '', /not offered/);
    assert.deepEqual([unknown.finishReason, unknown.toolCalls.length], ['stop', 0]);
  });

  test('is plain text where no call is allowed', () => {
    assert.equal(reply(call, 'stop', request({}, [])).text, call);
    assert.equal(reply(call, 'stop', request({ toolChoice: { kind: 'none' } })).finishReason, 'stop');
  });

  test('that the ceiling cuts inside a character ends before it', () => {
    const { text } = reply('5 €', 'length');
    assert.equal(text, '5 €');
    const cut = tokenizer.encodeCompletion('5 €').slice(0, -1);
    const replyTo = (tokens: readonly number[], asked: GenerateRequest) =>
      composeReply(tokenizer, asked, 7, { tokens, ended: 'length', reusedTokens: 0, logprob: 0 });
    assert.match(tokenizer.decode(cut), /\uFFFD$/);
    for (const asked of [request(), request({}, [])]) assert.equal(replyTo(cut, asked).text.trim(), '5');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.nat(), (whole, at) => {
        const tokens = tokenizer.encodeCompletion(whole);
        const begun = replyTo(tokens.slice(0, 1 + (at % tokens.length)), request({}, [])).text;
        assert.doesNotMatch(begun, /\uFFFD$/);
        assert.ok(tokenizer.decode(tokens).startsWith(begun), JSON.stringify(begun));
      }),
    );
  });

  test('ends with the first call when there may be only one', () => {
    const isComplete = singleCallEnd(tokenizer, request({ parallelToolCalls: false }));
    assert.ok(isComplete !== undefined);
    const tokens = tokenizer.encodeCompletion(call);
    assert.equal(isComplete(tokens), true);
    assert.equal(isComplete(tokens.slice(0, -1)), false);
    const thought = tokenizer.encodeCompletion(`<think>\nPerhaps ${call}`);
    assert.equal(isComplete(thought), false, 'a thought that has not ended');
    assert.equal(isComplete([...thought, ...tokenizer.encodeCompletion(`\n</think>\n\n${call}`)]), true);
    assert.equal(singleCallEnd(tokenizer, request()), undefined);
  });
});
