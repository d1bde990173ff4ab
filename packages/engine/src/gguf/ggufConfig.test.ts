import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { JsonFields, type JsonObject } from '../checkpoint/jsonFields.js';
import { parseModelConfig } from '../checkpoint/modelConfig.js';
import type { DecoderConfig } from '../model/config.js';
import { ggufJson } from '../testing/ggufFixtures.js';
import { ggufBlockFormats } from './blockFormats.js';
import { ggufConfig } from './ggufConfig.js';
import type { GgufTensor } from './ggufFile.js';
import { readGgufRopeScaling } from './ropeScaling.js';

const tinyMetadata = {
  'general.architecture': 'qwen3',
  'qwen3.context_length': 4096,
  'qwen3.embedding_length': 64,
  'qwen3.feed_forward_length': 96,
  'qwen3.block_count': 3,
  'qwen3.attention.head_count': 4,
  'qwen3.attention.head_count_kv': 2,
  'qwen3.attention.key_length': 32,
  'qwen3.attention.value_length': 32,
  'qwen3.attention.layer_norm_rms_epsilon': 1e-6,
  'qwen3.rope.freq_base': 1e6,
};

function tensor(name: string, shape: readonly number[]): GgufTensor {
  return { name, shape, format: ggufBlockFormats.get(0)!, start: 0, end: 0 };
}

/** Writes the configuration for these metadata and reads it as the engine does. */
function configOf(changes: JsonObject = {}, names = ['token_embd.weight']): DecoderConfig {
  const metadata = new JsonFields('some.gguf', { ...tinyMetadata, ...changes });
  const tensors = names.map((name) => tensor(name, [151, 64]));
  const json = ggufConfig({ metadata, tensors }, { bos: 1, eos: [2], pad: undefined }, null);
  return parseModelConfig(new JsonFields('config.json', json)).decoder;
}

/** Renames the tiny file's settings to those of another architecture. */
function as(architecture: string, without: readonly string[] = []): JsonObject {
  const renamed = Object.entries(tinyMetadata)
    .filter(([key]) => !without.includes(key))
    .map(([key, value]) => [key.replace('qwen3.', `${architecture}.`), value]);
  return { ...(Object.fromEntries(renamed) as JsonObject), 'general.architecture': architecture };
}

void test('the configuration has the sizes of the metadata', () => {
  assert.deepEqual(configOf(), {
    architecture: 'qwen3',
    vocabularySize: 151,
    hiddenSize: 64,
    layers: 3,
    heads: 4,
    kvHeads: 2,
    headDim: 32,
    ffnSize: 96,
    rmsNormEps: 1e-6,
    ropeTheta: 1e6,
    ropeScaling: { kind: 'default' },
    tieWordEmbeddings: true,
    contextLength: 4096,
    qkNorm: true,
    attentionBias: false,
  });
  assert.equal(configOf({}, ['token_embd.weight', 'output.weight']).tieWordEmbeddings, false);
});

void test('a head is as wide as the metadata say, or as the rotation, or its part of the width', () => {
  const lengths = ['qwen3.attention.key_length', 'qwen3.attention.value_length'];
  assert.equal(configOf(as('llama', lengths)).headDim, 16);
  assert.equal(configOf({ ...as('llama', lengths), 'llama.rope.dimension_count': 24 }).headDim, 24);
  assert.equal(configOf({ ...as('qwen2', lengths), 'qwen2.attention.head_count_kv': undefined }).kvHeads, 4);
});

suite('rotary scaling', () => {
  const cases = ggufJson('rope.json') as { headDim: number; theta: number; settings: JsonObject; factors: number[] }[];
  for (const { headDim, theta, settings, factors } of cases) {
    test(`of ${headDim} dimensions by ${String(settings['factor'])} is found in its factors`, () => {
      const metadata = new JsonFields('some.gguf', tinyMetadata);
      const source = { metadata, key: (name: string) => `qwen3.${name}`, theta, headDim };
      const found = readGgufRopeScaling({ ...source, factors: Float32Array.from(factors) });
      assert.deepEqual(found, settings);
      const others = Float32Array.from(factors, (factor) => (factor === 1 ? 1 : factor * 1.01 - 0.005));
      assert.throws(() => readGgufRopeScaling({ ...source, factors: others }), /rope_freqs\.weight must be those of a/);
      assert.throws(
        () => readGgufRopeScaling({ ...source, factors: others.subarray(1) }),
        /rope_freqs\.weight must have/,
      );
    });
  }

  test('of factors that are all 1 is none', () => {
    const metadata = new JsonFields('some.gguf', tinyMetadata);
    const source = { metadata, key: (name: string) => name, theta: 1e4, headDim: 8 };
    assert.equal(readGgufRopeScaling({ ...source, factors: Float32Array.of(1, 1, 1, 1) }), null);
  });

  test('linear and yarn are as the metadata say', () => {
    const linear = { 'qwen3.rope.scaling.type': 'linear', 'qwen3.rope.scaling.factor': 4 };
    assert.deepEqual(configOf(linear).ropeScaling, { kind: 'linear', factor: 4 });
    assert.deepEqual(configOf({ 'qwen3.rope.scale_linear': 2 }).ropeScaling, { kind: 'linear', factor: 2 });
    const yarn = {
      'qwen3.rope.scaling.type': 'yarn',
      'qwen3.rope.scaling.factor': 4,
      'qwen3.rope.scaling.original_context_length': 1024,
      'qwen3.rope.scaling.yarn_beta_fast': 16,
    };
    const found = configOf(yarn).ropeScaling;
    assert.ok(found.kind === 'yarn');
    assert.deepEqual([found.factor, found.originalContextLength, found.betaFast, found.betaSlow], [4, 1024, 16, 1]);
  });
});

suite('what the decoder does not compute is refused by the name of its field', () => {
  const refused: readonly (readonly [JsonObject, RegExp])[] = [
    [{ 'general.architecture': 'gemma3' }, /general\.architecture must be one of llama, qwen2, qwen3 .*"gemma3"/],
    [{ 'qwen3.expert_count': 8 }, /qwen3\.expert_count must be absent or 0, but is 8/],
    [{ 'qwen3.logit_scale': 0.5 }, /qwen3\.logit_scale/],
    [{ 'qwen3.attention.causal': false }, /qwen3\.attention\.causal/],
    [{ 'qwen3.attention.sliding_window': 512 }, /qwen3\.attention\.sliding_window must be absent or at least 4096/],
    [{ 'qwen3.attention.value_length': 16 }, /qwen3\.attention\.value_length must be 32/],
    [{ 'qwen3.rope.dimension_count': 16 }, /qwen3\.rope\.dimension_count must be 32/],
    [{ 'qwen3.attention.head_count_kv': [2, 2, 1] }, /qwen3\.attention\.head_count_kv must be a number/],
    [{ 'qwen3.rope.scaling.type': 'longrope' }, /qwen3\.rope\.scaling\.type must be one of none, linear, yarn/],
    [
      { 'qwen3.rope.scaling.type': 'yarn', 'qwen3.rope.scaling.yarn_log_multiplier': 0.1 },
      /qwen3\.rope\.scaling\.yarn_log_multiplier must be absent/,
    ],
    [{ 'qwen3.block_count': undefined }, /qwen3\.block_count must be a number, but is absent/],
  ];
  for (const [changes, message] of refused) {
    test(Object.keys(changes).join(), () => {
      assert.throws(() => configOf(changes), message);
    });
  }

  test('settings that change nothing are none', () => {
    configOf({ 'qwen3.expert_count': 0, 'qwen3.attention.causal': true, 'qwen3.attention.sliding_window': 4096 });
  });
});
