import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { documentedRule } from '@engraft/hub/testing/documentedRule.js';
import { modelId, openBench } from '@engraft/hub/testing/pulling.js';
import { filesIn, type Files } from '@engraft/hub/testing/hubFiles.js';
import { checkpointStages, examineModel } from './checkpointStages.js';

const shipped = fileURLToPath(new URL('../../../../models/base', import.meta.url));

/** The shipped model but for what a test changes; `null` leaves a file out. */
async function shippedFiles(changes: Readonly<Record<string, Buffer | string | null>> = {}): Promise<Files> {
  const files = new Map(Object.entries(await filesIn(shipped)));
  for (const [name, content] of Object.entries(changes)) {
    if (content === null) files.delete(name);
    else files.set(name, content);
  }
  return Object.fromEntries(files);
}

async function changedConfig(changes: object): Promise<string> {
  const config = JSON.parse(await readFile(path.join(shipped, 'config.json'), 'utf8')) as object;
  return JSON.stringify({ ...config, ...changes });
}

/** Lists the names in the snapshot after these files were offered. */
async function pulledOf(t: TestContext, files: Files): Promise<readonly string[]> {
  const { hub, pull } = await openBench(t);
  hub.put(modelId, files);
  const outcome = await pull(modelId, { stages: checkpointStages('f32') });
  assert.ok(outcome.kind === 'pulled', outcome.kind === 'refused' ? outcome.reason : '');
  assert.deepEqual(await examineModel(outcome.folder, 'f32'), { kind: 'servable' });
  return (await readdir(outcome.folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(outcome.folder, path.join(entry.parentPath, entry.name)))
    .sort();
}

const small = ['chat_template.jinja', 'config.json', 'generation_config.json'];
const tokenizer = ['tokenizer.json', 'tokenizer_config.json'];
const adapter = ['teacher/adapter_config.json', 'teacher/adapter_model.safetensors'];

documentedRule(
  'Only the files that the engine reads are pulled: the configuration, the tokenizer, the chat template, the weights ' +
    'in safetensors, and how the model learns (`learning.json`, `replay.jsonl` and a teaching adapter), where it ' +
    'says so.',
  async (t) => {
    const others = { 'README.md': '# Tiny', 'pytorch_model.bin': 'x', 'onnx/model.onnx': 'x', 'vocab.json': '{}' };
    await t.test('in one file', async (each) => {
      // An index that somebody left behind, of shards that are gone.
      const files = await shippedFiles({ ...others, 'model.safetensors.index.json': '{"weight_map": {"a": "gone"}}' });
      const learning = ['learning.json', 'model.safetensors', 'replay.jsonl'];
      assert.deepEqual(await pulledOf(each, files), [...small, ...learning, ...adapter, ...tokenizer]);
    });
    await t.test('in shards, with a teaching adapter and a template for tools', async (each) => {
      const weights = await readFile(path.join(shipped, 'model.safetensors'));
      const names = ['model-00001-of-00001.safetensors', 'model.safetensors.index.json'];
      const files = await shippedFiles({
        ...others,
        'model.safetensors': null,
        'replay.jsonl': null,
        [names[0] ?? '']: weights,
        [names[1] ?? '']: JSON.stringify({ weight_map: { 'model.norm.weight': names[0] } }),
        'learning.json': JSON.stringify({ teacher: 'model', teaching_adapter: 'teacher' }),
        'teacher/README.md': '# Teacher',
        'additional_chat_templates/tool_use.jinja': '{{ messages[0].content }}',
      });
      assert.deepEqual(await pulledOf(each, files), [
        'additional_chat_templates/tool_use.jinja',
        ...small,
        'learning.json',
        ...names,
        ...adapter,
        ...tokenizer,
      ]);
    });
  },
);

documentedRule(
  'A model that cannot be served is refused before its weights are downloaded: an architecture that is not ' +
    'supported, a missing chat template, weights of another format, or more of them than the machine has memory for.',
  async (t) => {
    const noTemplate = { 'chat_template.jinja': null, 'tokenizer_config.json': '{"eos_token": "<|im_end|>"}' };
    const huge = { intermediate_size: 2 ** 19, num_hidden_layers: 1024, hidden_size: 2 ** 14 };
    const cases: readonly (readonly [string, Parameters<typeof shippedFiles>[0], RegExp])[] = [
      [
        'architecture',
        { 'config.json': await changedConfig({ architectures: ['GPT2LMHeadModel'] }) },
        /architectures must be one of LlamaForCausalLM/,
      ],
      [
        'quantised',
        { 'config.json': await changedConfig({ quantization_config: { quant_method: 'awq' } }) },
        /quantization_config must be absent/,
      ],
      ['template', noTemplate, /chat_template\.jinja is missing/],
      ['format', { 'model.safetensors': null, 'pytorch_model.bin': 'x' }, /no model\.safetensors, nor shards of it/],
      ['tokenizer', { 'tokenizer.json': null, 'tokenizer.model': 'x' }, /it has no tokenizer\.json/],
      [
        'memory',
        { 'config.json': await changedConfig(huge) },
        /weights of \d+ parameters take \d+ bytes of memory, and there are \d+/,
      ],
      ['learning', { 'learning.json': '{"teacher": "latin"}' }, /learning\.json: teacher/],
      [
        'adapter',
        { 'learning.json': '{"teacher": "model", "teaching_adapter": "typo"}' },
        /names typo\/adapter_config\.json, typo\/adapter_model\.safetensors, which it does not have/,
      ],
      ['vocabulary', { 'config.json': await changedConfig({ vocab_size: 100 }) }, /vocab_size is 100, but/],
    ];
    for (const [name, changes, reason] of cases) {
      await t.test(name, async (each) => {
        const { hub, pull, cacheFolder } = await openBench(each);
        hub.put(modelId, await shippedFiles(changes));
        const outcome = await pull(modelId, { stages: checkpointStages('f32') });
        assert.ok(outcome.kind === 'refused');
        assert.match(outcome.reason, reason);
        assert.ok(!hub.seen.some(({ path: asked }) => asked.includes('model.safetensors')));
        assert.deepEqual(await readdir(cacheFolder), ['.locks'], 'nothing is left of it');
      });
    }
  },
);

test('a folder is complete when it has the files that its own files name', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-state-'));
  t.after(() => rm(folder, { recursive: true }));
  assert.deepEqual(await examineModel(folder, 'f32'), {
    kind: 'incomplete',
    missing: ['config.json', 'tokenizer.json', 'model.safetensors'],
  });
  await cp(shipped, folder, { recursive: true });
  assert.deepEqual(await examineModel(folder, 'f32'), { kind: 'servable' });
  await rm(path.join(folder, 'teacher'), { recursive: true });
  assert.deepEqual(await examineModel(folder, 'f32'), { kind: 'incomplete', missing: adapter });
  await writeFile(path.join(folder, 'learning.json'), '{"teacher": "latin"}');
  const state = await examineModel(folder, 'f32');
  assert.ok(state.kind === 'unservable');
  assert.match(state.reason, /learning\.json: teacher/);
});
