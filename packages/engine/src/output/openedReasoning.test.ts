/** Chat templates that end the prompt with `<think>`, like those of QwQ, Qwen3-Thinking and the distilled R1. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { tinyTokenizer, withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { withTokenizerFiles } from '../testing/tokenizerFiles.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { GenerateRequest, GenerateResult, ToolChoice } from '../types.js';
import { composeReply, forcedText, singleCallEnd } from './reply.js';

const file = 'chat_template.jinja';
const template = `${readFileSync(join(tinyTokenizer, file), 'utf8').trimEnd()}{{ '<think>\\n' if add_generation_prompt }}`;

const request = (changes: Partial<GenerateRequest> = {}): GenerateRequest => ({
  prompt: { messages: [{ role: 'user', content: 'Hi' }], tools: [{ name: 'time', parameters: { type: 'object' } }] },
  adapter: null,
  maxOutputTokens: 40,
  temperature: 0,
  ...changes,
});

const forced: readonly (readonly [ToolChoice, string])[] = [
  [{ kind: 'required' }, ' "time", "arguments": {}}\n</tool_call>'],
  [{ kind: 'function', name: 'time' }, ' {}}\n</tool_call>'],
];

suite('a template that opens the reasoning', () => {
  const withTokenizer = (use: (tokenizer: ChatTokenizer) => void): Promise<void> =>
    withTokenizerFiles({ [file]: template }, async (folder) => {
      use(await ChatTokenizer.load(folder));
    });

  for (const [toolChoice, rest] of forced) {
    test(`leaves a call that is ${toolChoice.kind} outside of it`, () =>
      withTokenizer((tokenizer) => {
        const asked = request({ toolChoice });
        const tokens = tokenizer.encodeCompletion(forcedText(tokenizer, asked) + rest);
        const reply: GenerateResult = composeReply(tokenizer, asked, 7, {
          tokens,
          ended: 'stop',
          reusedTokens: 0,
          logprob: 0,
        });
        assert.deepEqual([reply.text, reply.finishReason], ['', 'tool_calls']);
        assert.deepEqual(
          reply.toolCalls.map(({ name, arguments: values }) => [name, values]),
          [['time', '{}']],
        );
        assert.equal(reply.usage.reasoningTokens, tokenizer.encodeCompletion('\n</think>').length);
      }));
  }

  test('is not closed where no call is forced', () =>
    withTokenizer((tokenizer) => {
      assert.equal(forcedText(tokenizer, request()), '');
    }));

  test('does not end with a call that a thought quotes', () =>
    withTokenizer((tokenizer) => {
      const isComplete = singleCallEnd(tokenizer, request({ parallelToolCalls: false }));
      assert.ok(isComplete !== undefined);
      const quoted = '\nIt is written <tool_call>…</tool_call>';
      const call = '<tool_call>\n{"name": "time", "arguments": {}}\n</tool_call>';
      assert.equal(isComplete(tokenizer.encodeCompletion(quoted)), false);
      assert.equal(isComplete(tokenizer.encodeCompletion(`${quoted}\n</think>\n\n`)), false);
      assert.equal(isComplete(tokenizer.encodeCompletion(`${quoted}\n</think>\n\n${call}`)), true);
    }));

  test('has a forced call after its thought in what the engine answers', () =>
    withRandomCheckpoint(async (folder) => {
      const modelDir = join(folder, 'model');
      await writeFile(join(modelDir, file), template);
      const engine = await EmbeddedEngine.open({ modelDir, threads: 1 });
      try {
        const { usage } = await engine.generate(request({ toolChoice: { kind: 'required' } }));
        const tokenizer = await ChatTokenizer.load(modelDir);
        assert.equal(usage.reasoningTokens, tokenizer.encodeCompletion('\n</think>').length);
      } finally {
        await engine.close();
      }
    }));
});
