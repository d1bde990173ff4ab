/** Reads checkpoints in the layout of each family as `transformers` does, see `fixtures/make_layout_fixtures.py`. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { fixtureFolder, greatestDifference, readTensors, temporaryFolder } from '../testing/fixtures.js';
import { CachedBatch } from '../testing/runs.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { ChatMessage, ToolDefinition } from '../types.js';
import { readModelConfig } from './modelConfig.js';
import { loadWeights } from './weightFiles.js';

interface Expected {
  /** The fixture whose `tokenizer.json` this layout uses. */
  readonly tokenizer: string;
  readonly messages: readonly ChatMessage[];
  readonly rendered: string;
  readonly ids: readonly number[];
  readonly tool: ToolDefinition;
  /** The rendered prompt when `tool` is offered. */
  readonly withTool: string;
  /** All tokens that end an answer. `answer` ends with the last of them. */
  readonly end: readonly number[];
  readonly answer: readonly number[];
  readonly text: string;
}

const layouts = {
  smollm2: 'SmolLM2: tied, bfloat16, one file; many fields that do not matter',
  llama32: 'Llama 3.2: tied, bfloat16, shards; two end tokens, sampling defaults',
  mistral03: 'Mistral 0.3: untied, float16, shards; a list of named templates',
  qwen25: 'Qwen2.5: tied, bfloat16, a padded vocabulary; two end tokens, a repetition penalty, added_tokens.json',
  qwen3: 'Qwen3 as transformers 5 writes it: untied, a padded vocabulary, dtype, rope_parameters, templates in files',
  alone: 'tokenizer.json alone, with a template and a padded vocabulary',
} as const;
type Layout = keyof typeof layouts;

function readExpected(name: Layout): Expected {
  return JSON.parse(readFileSync(join(fixtureFolder('layouts'), name, 'expected.json'), 'utf8')) as Expected;
}

async function checkpointOf(t: TestContext, name: Layout): Promise<string> {
  const folder = await temporaryFolder(t);
  cpSync(join(fixtureFolder('layouts'), name), folder, { recursive: true });
  cpSync(
    join(fixtureFolder('tokenizer'), readExpected(name).tokenizer, 'tokenizer.json'),
    join(folder, 'tokenizer.json'),
  );
  return folder;
}

for (const [key, title] of Object.entries(layouts)) {
  const name = key as Layout;
  suite(title, () => {
    test('the prompt has the text and the tokens of transformers', async (t) => {
      const { messages, rendered, ids, tool, withTool, end } = readExpected(name);
      const tokenizer = await ChatTokenizer.load(await checkpointOf(t, name));
      assert.equal(tokenizer.render({ messages }), rendered);
      assert.equal(tokenizer.render({ messages, tools: [tool] }), withTool);
      assert.deepEqual(tokenizer.encodePrompt({ messages }), ids);
      assert.deepEqual(tokenizer.stopTokens, new Set(end));
    });

    test('the logits are those of transformers', async (t) => {
      const folder = await checkpointOf(t, name);
      const { decoder: config } = await readModelConfig(folder);
      const batch = await CachedBatch.open({ config, weights: await loadWeights(folder, config) }, [null]);
      const [logits] = await batch.append([readExpected(name).ids]);
      const expected = readTensors(join(folder, 'expected.safetensors')).get('logits')?.data ?? assert.fail();
      assert.ok(greatestDifference(logits ?? [], expected) <= 1e-4);
    });

    test('the answer is its greedy one, without padding or penalty, and ends where it says', async (t) => {
      const { messages, answer, text } = readExpected(name);
      const modelDir = await checkpointOf(t, name);
      const engine = await EmbeddedEngine.open({ modelDir, threads: 1 });
      t.after(() => engine.close());
      const request = { prompt: { messages }, adapter: null, maxOutputTokens: answer.length + 5, temperature: 0 };
      const result = await engine.generate(request);
      const bare = (await ChatTokenizer.load(modelDir)).bareAnswer(request.prompt, text);
      assert.deepEqual([result.text, result.finishReason], [bare, 'stop']);
      assert.equal(result.usage.outputTokens, answer.length);
    });
  });
}

void test('of the layout of tokenizer.json alone no other file tells of tokens', async (t) => {
  const folder = await checkpointOf(t, 'alone');
  for (const file of ['tokenizer_config.json', 'special_tokens_map.json', 'generation_config.json']) {
    assert.ok(!existsSync(join(folder, file)), file);
  }
});
