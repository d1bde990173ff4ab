import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { suite, test } from 'node:test';
import { defaultActivationBytes } from '../lora/activations.js';
import type { WeightFormat } from '../model/quantization.js';
import { temporaryFolder } from '../testing/fixtures.js';
import { JsonFields } from './jsonFields.js';
import { parseModelConfig } from './modelConfig.js';
import { outlineCheckpoint } from './outline.js';

/** Fields that every family writes into `config.json`, including fields that the engine does not read. */
const common = {
  bos_token_id: 1,
  hidden_act: 'silu',
  initializer_range: 0.02,
  torch_dtype: 'bfloat16',
  transformers_version: '4.45.0',
  use_cache: true,
};

const llama32 = {
  ...common,
  architectures: ['LlamaForCausalLM'],
  attention_bias: false,
  attention_dropout: 0,
  eos_token_id: [128001, 128008, 128009],
  head_dim: 64,
  hidden_size: 2048,
  intermediate_size: 8192,
  max_position_embeddings: 131072,
  mlp_bias: false,
  model_type: 'llama',
  num_attention_heads: 32,
  num_hidden_layers: 16,
  num_key_value_heads: 8,
  pretraining_tp: 1,
  rms_norm_eps: 1e-5,
  rope_scaling: {
    factor: 32,
    high_freq_factor: 4,
    low_freq_factor: 1,
    original_max_position_embeddings: 8192,
    rope_type: 'llama3',
  },
  rope_theta: 500000,
  tie_word_embeddings: true,
  vocab_size: 128256,
};

const smollm2 = {
  ...common,
  architectures: ['LlamaForCausalLM'],
  attention_bias: false,
  eos_token_id: 2,
  hidden_size: 576,
  intermediate_size: 1536,
  is_llama_config: true,
  max_position_embeddings: 8192,
  mlp_bias: false,
  model_type: 'llama',
  num_attention_heads: 9,
  num_hidden_layers: 30,
  num_key_value_heads: 3,
  pad_token_id: 2,
  pretraining_tp: 1,
  rms_norm_eps: 1e-5,
  rope_interleaved: false,
  rope_scaling: null,
  rope_theta: 100000,
  tie_word_embeddings: true,
  'transformers.js_config': { kv_cache_dtype: { q4f16: 'float16', fp16: 'float16' } },
  vocab_size: 49152,
};

const qwen25 = {
  ...common,
  architectures: ['Qwen2ForCausalLM'],
  eos_token_id: 151645,
  hidden_size: 896,
  intermediate_size: 4864,
  max_position_embeddings: 32768,
  max_window_layers: 21,
  model_type: 'qwen2',
  num_attention_heads: 14,
  num_hidden_layers: 24,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-6,
  rope_theta: 1000000,
  sliding_window: 32768,
  tie_word_embeddings: true,
  use_mrope: false,
  use_sliding_window: false,
  vocab_size: 151936,
};

const qwen3 = {
  ...qwen25,
  architectures: ['Qwen3ForCausalLM'],
  attention_bias: false,
  head_dim: 128,
  hidden_size: 1024,
  intermediate_size: 3072,
  max_position_embeddings: 40960,
  max_window_layers: 28,
  model_type: 'qwen3',
  num_attention_heads: 16,
  num_hidden_layers: 28,
  num_key_value_heads: 8,
  rope_scaling: null,
  sliding_window: null,
};

const mistral = {
  ...common,
  architectures: ['MistralForCausalLM'],
  eos_token_id: 2,
  hidden_size: 4096,
  intermediate_size: 14336,
  max_position_embeddings: 32768,
  model_type: 'mistral',
  num_attention_heads: 32,
  num_hidden_layers: 32,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-5,
  rope_theta: 1000000,
  sliding_window: null,
  tie_word_embeddings: false,
  vocab_size: 32768,
};

const parse = (config: object) => parseModelConfig(new JsonFields('config.json', { ...config })).decoder;

suite('config.json as the families write it', () => {
  test('Llama 3.2 1B takes less memory to learn in blocks: with 8 bits 4 GB have room for its activations', async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(path.join(folder, 'config.json'), JSON.stringify(llama32));
    const bytes = async (format: WeightFormat): Promise<number> =>
      (await outlineCheckpoint(folder, format, Infinity)).trainingBytes;
    assert.ok((await bytes('f32')) > 2 * (await bytes('q8')) && (await bytes('q8')) > (await bytes('q4')));
    assert.ok((await bytes('q8')) + defaultActivationBytes('q8') < 3.6e9);
  });

  for (const [name, config, wanted] of [
    ['Llama 3.2 1B', llama32, { headDim: 64, tieWordEmbeddings: true, attentionBias: false, qkNorm: false }],
    ['SmolLM2 135M', smollm2, { headDim: 64, tieWordEmbeddings: true, attentionBias: false, qkNorm: false }],
    ['Qwen2.5 0.5B', qwen25, { headDim: 64, tieWordEmbeddings: true, attentionBias: true, qkNorm: false }],
    ['Qwen3 0.6B', qwen3, { headDim: 128, tieWordEmbeddings: true, attentionBias: false, qkNorm: true }],
    ['Mistral 7B v0.3', mistral, { headDim: 128, tieWordEmbeddings: false, attentionBias: false, qkNorm: false }],
  ] as const) {
    test(`${name} is understood, whatever else it says`, () => {
      const { headDim, tieWordEmbeddings, attentionBias, qkNorm, layerWindows } = parse(config);
      assert.deepEqual({ headDim, tieWordEmbeddings, attentionBias, qkNorm }, wanted);
      assert.equal(layerWindows, undefined, 'no window is in use');
    });
  }

  for (const [field, value] of Object.entries({
    rope_interleaved: true,
    partial_rotary_factor: 0.5,
    mlp_bias: true,
    num_experts: 128,
    moe_intermediate_size: 768,
    attn_logit_softcapping: 50,
    logits_scaling: 8,
    quantization_config: { quant_method: 'awq' },
  })) {
    test(`${field} is refused by name in each of them`, () => {
      for (const config of [llama32, smollm2, qwen25, qwen3, mistral]) {
        const message = new RegExp(`^config\\.json: ${field} must be `);
        assert.throws(() => parse({ ...config, [field]: value }), { code: 'checkpoint_invalid', message });
      }
    });
  }
});
