import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fixtureFolder } from '../testing/fixtures.js';
import { parsePeftConfig, serializePeftConfig } from './peftConfig.js';

const plain = JSON.parse(serializePeftConfig({ rank: 8, alpha: 16 }, 'base').toString()) as Record<string, unknown>;

function parse(config: unknown): unknown {
  return parsePeftConfig(Buffer.from(JSON.stringify(config)));
}

void test('what is written can be read', () => {
  assert.deepEqual(parse(plain), { rank: 8, alpha: 16 });
  assert.equal(plain['base_model_name_or_path'], 'base');
});

void test('what peft writes can be read', () => {
  const file = readFileSync(path.join(fixtureFolder('llama-untied'), 'adapter', 'adapter_config.json'));
  assert.deepEqual(parsePeftConfig(file), { rank: 4, alpha: 6 });
});

void test('the order of the target modules does not matter', () => {
  const targets = plain['target_modules'] as string[];
  assert.deepEqual(parse({ ...plain, target_modules: [...targets].reverse() }), { rank: 8, alpha: 16 });
});

void test('modules, patterns and scales of their own can be read, and are written as they were read', () => {
  const lora = {
    rank: 8,
    alpha: 16,
    targets: ['q_proj', 'layers.1.mlp.up_proj'],
    layers: [1],
    rankPattern: new Map([['layers.1.mlp.up_proj', 3]]),
    alphaPattern: new Map([['^model.layers\\.1.self_attn.q_proj', 5]]),
    rsLora: true,
  };
  assert.deepEqual(parsePeftConfig(serializePeftConfig(lora, null)), lora);
  assert.deepEqual(parse({ ...plain, layers_to_transform: 1 }), { rank: 8, alpha: 16, layers: [1] });
  const unset = { layers_to_transform: [], rank_pattern: {}, alpha_pattern: null, use_rslora: false };
  assert.deepEqual(parse({ ...plain, ...unset }), { rank: 8, alpha: 16 });
});

const refused: readonly (readonly [string, unknown])[] = [
  ['peft_type', 'IA3'],
  ['bias', 'all'],
  ['task_type', 'SEQ_CLS'],
  ['r', 0],
  ['r', 1.5],
  ['r', 1e9],
  ['r', '8'],
  ['lora_alpha', -1],
  ['lora_alpha', null],
  ['target_modules', []],
  ['target_modules', null],
  ['target_modules', ['q_proj', 3]],
  ['target_modules', ['.*_proj']],
  ['target_modules', 'all-linear'],
  ['target_modules', new Array(7).fill('q_proj')],
  ['use_dora', true],
  ['use_rslora', 'yes'],
  ['lora_bias', true],
  ['target_parameters', ['mlp.experts']],
  ['exclude_modules', ['o_proj']],
  ['trainable_token_indices', [1]],
  ['fan_in_fan_out', true],
  ['modules_to_save', ['lm_head']],
  ['rank_pattern', { q_proj: 1e9 }],
  ['rank_pattern', { q_proj: 0 }],
  ['rank_pattern', { '(a+)+$': 2 }],
  ['rank_pattern', ['q_proj']],
  ['alpha_pattern', { q_proj: -1 }],
  ['alpha_pattern', { q_proj: '2' }],
  ['layers_to_transform', [-1]],
  ['layers_to_transform', '0'],
  ['layers_pattern', 'layers'],
  ['init_lora_weights', 'pissa'],
  ['something_of_the_future', 1],
];

for (const [field, value] of refused) {
  void test(`refused: ${field} ${JSON.stringify(value)}`, () => {
    const message = new RegExp(`adapter_config\\.json: ${field} `);
    assert.throws(() => parse({ ...plain, [field]: value }), { name: 'EngineError', code: 'adapter_invalid', message });
  });
}

for (const text of ['', '[]', 'null', '"x"', '\xff']) {
  void test(`refused: the text ${JSON.stringify(text)}`, () => {
    assert.throws(() => parsePeftConfig(Buffer.from(text, 'latin1')), { code: 'adapter_invalid' });
  });
}
