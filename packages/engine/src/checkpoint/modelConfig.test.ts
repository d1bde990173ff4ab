import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { tinyConfig } from '../testing/randomCheckpoint.js';
import { JsonFields, type JsonObject } from './jsonFields.js';
import { parseModelConfig } from './modelConfig.js';

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
