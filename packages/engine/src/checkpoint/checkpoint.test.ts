import assert from 'node:assert/strict';
import { readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { decoderWeightShapes, readWeights } from '../model/weights.js';
import { openCheckpoint } from './checkpoint.js';
import { loadWeights } from './weightFiles.js';
import { JsonFields, type JsonObject } from './jsonFields.js';
import { parseModelConfig } from './modelConfig.js';
import { tinyConfig, withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { serializeSafetensors, type FloatTensor } from './safetensors.js';

const parse = (changes: JsonObject) =>
  parseModelConfig(new JsonFields('config.json', { ...tinyConfig, ...changes })).decoder;

suite('config.json', () => {
  test('of every architecture is understood', () => {
    const kinds = ['LlamaForCausalLM', 'MistralForCausalLM', 'Qwen2ForCausalLM', 'Qwen3ForCausalLM'].map((name) => {
      const { architecture, qkNorm, attentionBias } = parse({ architectures: [name] });
      return [architecture, qkNorm, attentionBias];
    });
    assert.deepEqual(kinds, [
      ['llama', false, false],
      ['mistral', false, false],
      ['qwen2', false, true],
      ['qwen3', true, false],
    ]);
  });

  test('may say what architecture it is by model_type alone', () => {
    const { architectureName } = parseModelConfig(
      new JsonFields('config.json', { ...tinyConfig, architectures: undefined, model_type: 'qwen2' }),
    );
    assert.equal(architectureName, 'Qwen2ForCausalLM');
  });

  test('of a Qwen2 may call its biases by a name that changes nothing', () => {
    const config = { architectures: ['Qwen2ForCausalLM'], attention_bias: true };
    assert.deepEqual(parse(config), parse({ ...config, attention_bias: undefined }));
  });

  test('may leave out what has a default', () => {
    const llama = parse({
      architectures: ['LlamaForCausalLM'],
      head_dim: null,
      num_key_value_heads: null,
      hidden_size: 64,
    });
    assert.deepEqual([llama.headDim, llama.kvHeads], [16, 4]);
    assert.equal(parse({ head_dim: undefined }).headDim, 128);
    assert.equal(parse({ tie_word_embeddings: undefined }).tieWordEmbeddings, false);
  });

  const llama3 = { factor: 8, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 256 };
  const llama3Scaling = {
    kind: 'llama3',
    factor: 8,
    lowFrequencyFactor: 1,
    highFrequencyFactor: 4,
    originalContextLength: 256,
  };
  for (const [name, changes, theta, scaling] of [
    ['transformers 5', { rope_parameters: { rope_type: 'default', rope_theta: 5e5 } }, 5e5, { kind: 'default' }],
    [
      'transformers 5, scaled',
      { rope_parameters: { rope_type: 'llama3', rope_theta: 5e5, ...llama3 } },
      5e5,
      llama3Scaling,
    ],
    ['transformers 4', { rope_theta: 5e5, rope_scaling: null }, 5e5, { kind: 'default' }],
    [
      'transformers 4, scaled',
      { rope_theta: 5e5, rope_scaling: { rope_type: 'llama3', ...llama3 } },
      5e5,
      llama3Scaling,
    ],
    ['early transformers 4', { rope_scaling: { type: 'linear', factor: 2 } }, 1e4, { kind: 'linear', factor: 2 }],
    ['without a word about rotation', {}, 1e4, { kind: 'default' }],
    [
      'both, which say the same',
      {
        rope_theta: 5e5,
        rope_scaling: { type: 'linear', factor: 2 },
        rope_parameters: { rope_type: 'linear', rope_theta: 5e5, factor: 2 },
      },
      5e5,
      { kind: 'linear', factor: 2 },
    ],
  ] as const) {
    test(`rotary settings of ${name}`, () => {
      const { ropeTheta, ropeScaling } = parse({ rope_parameters: undefined, ...changes });
      assert.equal(ropeTheta, theta);
      assert.deepEqual(ropeScaling, scaling);
    });
  }

  for (const [name, changes, windows] of [
    ['Mistral, everywhere', { architectures: ['MistralForCausalLM'], sliding_window: 100 }, [100, 100]],
    ['Mistral, by default', { architectures: ['MistralForCausalLM'], max_position_embeddings: 8192 }, [4096, 4096]],
    ['Mistral, without', { architectures: ['MistralForCausalLM'], sliding_window: null }, undefined],
    ['Qwen, not in use', { sliding_window: 100 }, undefined],
    ['Qwen, in the last layers', { sliding_window: 100, use_sliding_window: true, max_window_layers: 1 }, [null, 100]],
    ['Qwen, beyond the last layer', { sliding_window: 100, use_sliding_window: true }, [null, null]],
    [
      'Qwen, by layer',
      { sliding_window: 9, use_sliding_window: true, layer_types: ['sliding_attention', 'full_attention'] },
      [9, null],
    ],
    ['Llama, which has none', { architectures: ['LlamaForCausalLM'], sliding_window: 100 }, undefined],
    ['a window as long as the context', { sliding_window: 512, use_sliding_window: true }, undefined],
  ] as const) {
    test(`sliding windows of ${name}`, () => {
      const { layerWindows, contextLength } = parse(changes);
      assert.deepEqual(layerWindows, windows);
      assert.ok(contextLength >= 512, 'a window does not shorten the context');
    });
  }

  const yarn = { rope_type: 'yarn', rope_theta: 1e4, factor: 4, original_max_position_embeddings: 128 };
  const yarnScaling = {
    kind: 'yarn',
    factor: 4,
    originalContextLength: 128,
    betaFast: 32,
    betaSlow: 1,
    truncate: true,
  };
  for (const [name, changes, expected] of [
    ['as in the paper', {}, { attentionFactor: 0.1 * Math.log(4) + 1 }],
    ['with a factor of its own', { attention_factor: 0.7 }, { attentionFactor: 0.7 }],
    ['with one of two scales', { mscale: 2 }, { attentionFactor: 0.1 * Math.log(4) + 1 }],
    [
      'with both scales',
      { mscale: 2, mscale_all_dim: 1 },
      { attentionFactor: (0.2 * Math.log(4) + 1) / (0.1 * Math.log(4) + 1) },
    ],
    ['with bounds', { beta_fast: 16, beta_slow: 2, truncate: false }, { betaFast: 16, betaSlow: 2, truncate: false }],
    ['without a factor', { factor: null }, {}],
  ] as const) {
    test(`YaRN ${name}`, () => {
      const { ropeScaling } = parse({ rope_parameters: { ...yarn, ...changes } });
      assert.deepEqual(ropeScaling, { ...yarnScaling, attentionFactor: 0.1 * Math.log(4) + 1, ...expected });
    });
  }

  for (const [name, changes, message] of [
    [
      'another architecture',
      { architectures: ['GPT2LMHeadModel'] },
      /architectures must be one of Llama.*"GPT2LMHeadModel"/,
    ],
    ['no architecture', { architectures: undefined }, /architectures must be a list of strings, but is absent/],
    ['another model_type', { architectures: undefined, model_type: 'gpt2' }, /model_type must be one of llama.*"gpt2"/],
    ['a model_type that says otherwise', { model_type: 'granite' }, /model_type must be "qwen3" as .*"granite"/],
    ['attention to what follows', { is_causal: false }, /is_causal must be true/],
    ['another activation', { hidden_act: 'gelu' }, /hidden_act must be "silu", but is "gelu"/],
    ['biases', { attention_bias: true }, /attention_bias must be false/],
    ['biases of the feed-forward part', { mlp_bias: true }, /mlp_bias must be false/],
    ['experts', { num_local_experts: 8 }, /num_local_experts must be absent: experts are not supported/],
    ['soft caps', { final_logit_softcapping: 30 }, /final_logit_softcapping must be absent/],
    ['a multiplier', { embedding_multiplier: 12 }, /embedding_multiplier must be 1, but is 12/],
    ['a scale of attention', { attention_multiplier: 0.1 }, /attention_multiplier must be absent/],
    ['quantisation by an early name', { compression_config: {} }, /compression_config must be absent/],
    ['quantisation', { quantization_config: { bits: 4 } }, /quantization_config must be absent/],
    ['partial rotation', { partial_rotary_factor: 0.5 }, /partial_rotary_factor must be 1/],
    [
      'unknown scaling',
      { rope_parameters: { rope_type: 'longrope' } },
      /rope_parameters: rope_type must be one of.*"longrope"/,
    ],
    [
      'a scaling beside rotary settings without one',
      { rope_scaling: { rope_type: 'linear', factor: 4 } },
      /^config\.json: rope_scaling must be absent beside rope_parameters, unless.*"linear"/,
    ],
    [
      'another rotation in its older form',
      {
        rope_scaling: { type: 'linear', factor: 2 },
        rope_parameters: { rope_type: 'linear', rope_theta: 5e5, factor: 2 },
      },
      /rope_scaling must be absent beside rope_parameters, unless both say the same, rope_theta included/,
    ],
    [
      'rotary settings for each kind of layer',
      { rope_parameters: { full_attention: { rope_type: 'default' } } },
      /rope_parameters: full_attention must be absent/,
    ],
    [
      'a dynamic stretch of another length',
      { rope_parameters: { rope_type: 'dynamic', factor: 2, original_max_position_embeddings: 256 } },
      /original_max_position_embeddings must be max_position_embeddings \(512\)/,
    ],
    ['a stretch that shrinks', { rope_parameters: { ...yarn, factor: 0.5 } }, /factor must be between 1/],
    ['bounds that cross', { rope_parameters: { ...yarn, beta_fast: 1, beta_slow: 2 } }, /beta_fast must be at least/],
    ['a rotation that stands still', { rope_parameters: { ...yarn, rope_theta: 1 } }, /rope_theta must be above 1/],
    ['a window of nothing', { use_sliding_window: true, sliding_window: 0 }, /sliding_window must be between 1/],
    [
      'sliding layers without a window',
      { layer_types: ['sliding_attention', 'full_attention'] },
      /layer_types must be/,
    ],
    ['too few layers', { layer_types: ['full_attention'] }, /layer_types must be 2 times/],
    ['unknown layers', { layer_types: ['linear_attention'] }, /layer_types must be/],
    ['a size in a string', { hidden_size: '32' }, /hidden_size must be a number, but is "32"/],
    ['a fractional size', { num_hidden_layers: 1.5 }, /num_hidden_layers must be an integer/],
    ['a negative size', { vocab_size: -1 }, /vocab_size must be between 1 and/],
    ['an absurd size', { hidden_size: 1e12 }, /hidden_size must be between 1 and/],
    ['an absurd context', { max_position_embeddings: 1e12 }, /max_position_embeddings must be between/],
    ['heads that do not divide', { num_key_value_heads: 3 }, /num_key_value_heads must be a divisor of 4/],
    ['an odd head size', { head_dim: 17 }, /head_dim must be even/],
  ] as const) {
    test(`with ${name} is refused`, () => {
      assert.throws(() => parse(changes), { name: 'EngineError', code: 'checkpoint_invalid', message });
    });
  }
});

suite('a checkpoint folder', () => {
  const invalid = (message: RegExp) => ({ name: 'EngineError', code: 'checkpoint_invalid', message });

  test('is described by its config and hashed over all its files', async () => {
    await withRandomCheckpoint(async (folder, config) => {
      const model = join(folder, 'model');
      const { description, weights } = await openCheckpoint(model);
      assert.equal(description.architecture, 'Qwen3ForCausalLM');
      assert.deepEqual([description.contextLength, description.vocabularySize], [512, 384]);
      const sizes = [...decoderWeightShapes(config).values()].map((shape) => shape.reduce((a, b) => a * b, 1));
      assert.equal(
        description.parameters,
        sizes.reduce((a, b) => a + b, 0),
      );
      assert.equal((await readWeights(weights, decoderWeightShapes(config))).size, sizes.length);
      assert.match(description.contentHash, /^sha256:[0-9a-f]{64}$/);
      assert.equal((await openCheckpoint(model)).description.contentHash, description.contentHash);
      await writeFile(join(model, 'chat_template.jinja'), '{{ messages[0].content }}');
      assert.notEqual((await openCheckpoint(model)).description.contentHash, description.contentHash);
    });
  });

  test('may be sharded', async () => {
    await withRandomCheckpoint(async (folder, config) => {
      const model = join(folder, 'model');
      const weights = await loadWeights(model, config);
      await rm(join(model, 'model.safetensors'));
      const names = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
      const map: Record<string, string> = {};
      for (const [shard, name] of names.entries()) {
        const part = [...weights].filter((_, index) => index % 2 === shard);
        for (const [tensor] of part) map[tensor] = name;
        await writeFile(join(model, name), serializeSafetensors(part, {}));
      }
      const writeIndex = (weightMap: unknown): Promise<void> =>
        writeFile(join(model, 'model.safetensors.index.json'), JSON.stringify({ weight_map: weightMap }));
      await writeIndex(map);
      assert.deepEqual(await loadWeights(model, config), weights);
      await rename(join(model, names[1]!), join(model, 'away'));
      await assert.rejects(openCheckpoint(model), invalid(/model-00002-of-00002\.safetensors is missing/));
      await writeIndex({ ...map, x: '../../etc/shadow.safetensors' });
      await assert.rejects(openCheckpoint(model), invalid(/is not a file name/));
    });
  });

  test('is the single file where an index of shards lies beside it', async () => {
    await withRandomCheckpoint(async (folder) => {
      const model = join(folder, 'model');
      const { description } = await openCheckpoint(model);
      const stale = { weight_map: { 'model.norm.weight': 'model-00001-of-00002.safetensors' } };
      await writeFile(join(model, 'model.safetensors.index.json'), JSON.stringify(stale));
      assert.deepEqual((await openCheckpoint(model)).description, description);
    });
  });

  test('that is damaged is refused', async () => {
    await withRandomCheckpoint(async (folder, config) => {
      const model = join(folder, 'model');
      const file = join(model, 'model.safetensors');
      const intact = await readFile(file);
      const tensors = new Map<string, FloatTensor>(
        [...decoderWeightShapes(config)].map(([name, shape]) => [
          name,
          { shape, data: new Float32Array(shape.reduce((a, b) => a * b, 1)) },
        ]),
      );
      const norm = 'model.norm.weight';
      const write = (changed: Iterable<readonly [string, FloatTensor]>): Promise<void> =>
        writeFile(file, serializeSafetensors(changed, {}));
      const refuses = (message: RegExp): Promise<void> => assert.rejects(openCheckpoint(model), invalid(message));

      await truncate(file, intact.byteLength - 1);
      await refuses(/model\.safetensors is not a valid safetensors file/);
      const absurd = Buffer.from(intact);
      absurd.writeBigUInt64LE(2n ** 60n);
      await writeFile(file, absurd);
      await refuses(/header length .* out of range/);
      await write(new Map([...tensors, [norm, { shape: [16], data: new Float32Array(16) }]]));
      await refuses(/model\.norm\.weight has shape \[16\], but config\.json asks for \[32\]/);
      await write([...tensors].filter(([name]) => name !== norm));
      await refuses(/tensors are missing: model\.norm\.weight/);
      await write([...tensors, ['model.norm.bias', { shape: [1], data: new Float32Array(1) }]]);
      await refuses(/model\.norm\.bias is not part of a qwen3 decoder/);
      await rm(file);
      await refuses(/model\.safetensors is missing/);
      await writeFile(join(model, 'config.json'), JSON.stringify({ ...tinyConfig, vocab_size: 100 }));
      await refuses(/vocab_size is 100, but the tokenizer uses 384 tokens/);
      await rm(join(model, 'config.json'));
      await refuses(/config\.json is missing/);
    });
  });
});
