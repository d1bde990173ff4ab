import { join } from 'node:path';
import type { Architecture, DecoderConfig } from '../model/config.js';
import { JsonFields } from './jsonFields.js';
import { readLayerWindows } from './layerWindows.js';
import { readRope } from './ropeConfig.js';

/** The decoder's architectures by their names in `architectures` of `config.json`. */
const architectures: ReadonlyMap<string, Architecture> = new Map([
  ['LlamaForCausalLM', 'llama'],
  ['MistralForCausalLM', 'mistral'],
  ['Qwen2ForCausalLM', 'qwen2'],
  ['Qwen3ForCausalLM', 'qwen3'],
]);

/** Fields by which mixtures of experts give their numbers of experts. */
const expertFields = [
  'num_experts',
  'num_local_experts',
  'n_routed_experts',
  'num_experts_per_tok',
  'moe_intermediate_size',
];
const softCapFields = ['attn_logit_softcapping', 'final_logit_softcapping'];
const multiplierFields = ['embedding_multiplier', 'residual_multiplier', 'logits_scaling', 'logit_scale'];
/** Settings that replace the square root of a head's width. */
const attentionScaleFields = ['attention_multiplier', 'query_pre_attn_scalar'];
/** The second is the name in early `compressed-tensors`. */
const quantizationFields = ['quantization_config', 'compression_config'];

/** Bounds that keep a damaged configuration from asking for absurd amounts of memory. */
const maxSizes = { vocabulary: 2 ** 21, width: 2 ** 17, headDim: 1024, layers: 1024, context: 2 ** 21 };

export interface ModelConfig {
  /** The name in `config.json`, for instance `Qwen3ForCausalLM`. */
  readonly architectureName: string;
  readonly decoder: DecoderConfig;
}

/**
 * Reads `config.json` as `transformers` writes it. Refuses every setting that the decoder does not implement, by the
 * name of its field: an ignored setting would silently give wrong numbers.
 */
export async function readModelConfig(modelDir: string): Promise<ModelConfig> {
  return parseModelConfig(await JsonFields.read(join(modelDir, 'config.json'), 'config.json'));
}

export function parseModelConfig(fields: JsonFields): ModelConfig {
  const { architectureName, architecture } = readArchitecture(fields);
  refuseUnsupported(fields, architecture);

  const hiddenSize = fields.integer('hidden_size', undefined, { min: 1, max: maxSizes.width });
  const heads = fields.integer('num_attention_heads', undefined, { min: 1, max: maxSizes.width });
  const kvHeads = fields.integer('num_key_value_heads', heads, { min: 1, max: heads });
  if (heads % kvHeads !== 0) throw fields.refusal('num_key_value_heads', `a divisor of ${heads}`);
  const layers = fields.integer('num_hidden_layers', undefined, { min: 1, max: maxSizes.layers });
  const contextLength = fields.integer('max_position_embeddings', undefined, { min: 1, max: maxSizes.context });
  const decoder: DecoderConfig = {
    architecture,
    vocabularySize: fields.integer('vocab_size', undefined, { min: 1, max: maxSizes.vocabulary }),
    hiddenSize,
    layers,
    heads,
    kvHeads,
    headDim: readHeadDim(fields, architecture, hiddenSize, heads),
    ffnSize: fields.integer('intermediate_size', undefined, { min: 1, max: maxSizes.width * 4 }),
    rmsNormEps: fields.number('rms_norm_eps', 1e-6, { min: 0, max: 1 }),
    ...readRope(fields, contextLength),
    tieWordEmbeddings: fields.boolean('tie_word_embeddings', false),
    contextLength,
    qkNorm: architecture === 'qwen3',
    attentionBias: architecture === 'qwen2',
    ...readLayerWindows(fields, architecture, { layers, contextLength }),
  };
  return { architectureName, decoder };
}

/** `transformers` goes by `model_type` alone, so it must agree with `architectures`, or may replace it. */
function readArchitecture(fields: JsonFields): {
  readonly architectureName: string;
  readonly architecture: Architecture;
} {
  const type = fields.value('model_type');
  const byType = type !== undefined && !fields.has('architectures');
  const first = byType ? undefined : fields.strings('architectures')[0];
  const known = [...architectures].find(([name, architecture]) => (byType ? architecture === type : name === first));
  if (known === undefined) {
    const allowed = byType ? architectures.values() : architectures.keys();
    throw fields.refusal(byType ? 'model_type' : 'architectures', `one of ${[...allowed].join(', ')}`);
  }
  const [architectureName, architecture] = known;
  if (type === undefined || type === architecture) return { architectureName, architecture };
  throw fields.refusal('model_type', `"${architecture}" as architectures begins with ${architectureName}`);
}

function refuseUnsupported(fields: JsonFields, architecture: Architecture): void {
  const mustBe = (name: string, expected: unknown): void => {
    if (fields.has(name) && fields.value(name) !== expected) throw fields.refusal(name, JSON.stringify(expected));
  };
  mustBe('hidden_act', 'silu');
  mustBe('mlp_bias', false);
  // Qwen2 has biases whatever this field says. In the others it would also give the output projection one.
  if (architecture !== 'qwen2') mustBe('attention_bias', false);
  // Models that embed texts are not causal.
  mustBe('is_causal', true);
  mustBe('partial_rotary_factor', 1);
  mustBe('rope_interleaved', false);
  // Parts of derived models that these architectures lack. A file may keep a field whose value turns the part off.
  for (const name of expertFields) {
    if (fields.has(name) && fields.value(name) !== 0) throw fields.refusal(name, 'absent: experts are not supported');
  }
  for (const name of softCapFields)
    if (fields.has(name)) throw fields.refusal(name, 'absent: soft caps are not supported');
  for (const name of multiplierFields) mustBe(name, 1);
  for (const name of attentionScaleFields)
    if (fields.has(name)) throw fields.refusal(name, 'absent: other scales of attention are not supported');
  for (const name of quantizationFields)
    if (fields.has(name)) throw fields.refusal(name, 'absent: quantised checkpoints are not supported');
}

function readHeadDim(fields: JsonFields, architecture: Architecture, hiddenSize: number, heads: number): number {
  // Qwen3's default is a constant. The others' follows from the width.
  const fallback = architecture === 'qwen3' ? 128 : hiddenSize / heads;
  const headDim = fields.integer('head_dim', fallback, { min: 2, max: maxSizes.headDim });
  // Rotation works on pairs of dimensions.
  if (headDim % 2 !== 0) throw fields.refusal('head_dim', 'even');
  return headDim;
}
