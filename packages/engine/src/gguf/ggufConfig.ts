/** Makes `config.json` from a GGUF file's metadata. */
import type { JsonFields, JsonObject } from '../checkpoint/jsonFields.js';
import { EngineError } from '../engine.js';
import type { GgufFile } from './ggufFile.js';
import { readGgufRopeScaling } from './ropeScaling.js';
import { outputHead, ropeFactors, tokenEmbedding } from './tensorNames.js';

/** Hugging Face classes by llama.cpp's architecture. llama.cpp treats a Mistral as a Llama. */
const architectureClasses: Readonly<Record<string, string>> = {
  llama: 'LlamaForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
};

/** Settings that change the computation, and the value that turns each off. */
const neutralValues: readonly (readonly [string, unknown])[] = [
  ['expert_count', 0],
  ['attention.causal', true],
  ['attention.scale', 0],
  ['attention.clamp_kqv', 0],
  ['attention.max_alibi_bias', 0],
  ['attention.temperature_scale', 0],
  ['attn_logit_softcapping', 0],
  ['final_logit_softcapping', 0],
  ['logit_scale', 0],
  ['embedding_scale', 0],
  ['residual_scale', 0],
  ['use_parallel_residual', false],
];

/** Ids as the tokenizer's metadata give them. */
export interface SpecialIds {
  readonly bos: number | undefined;
  /** Each ends generation. The first is the end of a text. */
  readonly eos: readonly number[];
  readonly pad: number | undefined;
}

/**
 * The configuration as Hugging Face writes it. The caller has it checked like any other (`parseModelConfig`).
 * @param ropeFactors the numbers of the tensor of that name, if the file has one.
 * @throws EngineError `checkpoint_invalid` naming the field.
 */
export function ggufConfig(gguf: GgufFile, ids: SpecialIds, ropeFactors: Float32Array | null): JsonObject {
  const { metadata, tensors } = gguf;
  const { architecture, className } = readArchitecture(metadata);
  const key = (name: string): string => `${architecture}.${name}`;
  const { vocabularySize, hiddenSize } = embeddingSizes(gguf);
  const contextLength = metadata.integer(key('context_length'));
  refuseOthers(metadata, key, contextLength);
  const heads = metadata.integer(key('attention.head_count'));
  const headDim = readHeadDim(metadata, key, hiddenSize / heads);
  const theta = metadata.number(key('rope.freq_base'), 10_000, { min: 1 });
  return {
    architectures: [className],
    model_type: architecture,
    hidden_act: 'silu',
    hidden_size: metadata.integer(key('embedding_length')),
    intermediate_size: metadata.integer(key('feed_forward_length')),
    num_hidden_layers: metadata.integer(key('block_count')),
    num_attention_heads: heads,
    num_key_value_heads: metadata.integer(key('attention.head_count_kv'), heads),
    head_dim: headDim,
    max_position_embeddings: contextLength,
    rms_norm_eps: metadata.number(key('attention.layer_norm_rms_epsilon')),
    rope_theta: theta,
    rope_scaling: readGgufRopeScaling({ metadata, key, theta, headDim, factors: ropeFactors }),
    vocab_size: vocabularySize,
    tie_word_embeddings: !tensors.some(({ name }) => name === outputHead),
    // The class Qwen2 decides it.
    ...(architecture === 'qwen2' ? {} : { attention_bias: false }),
    ...(architecture === 'llama' ? { mlp_bias: false } : { use_sliding_window: false }),
    bos_token_id: ids.bos ?? null,
    eos_token_id: ids.eos[0] ?? null,
    pad_token_id: ids.pad ?? null,
    use_cache: true,
  };
}

/** @throws EngineError `checkpoint_invalid` when the engine does not compute it. */
export function readArchitecture(metadata: JsonFields): { readonly architecture: string; readonly className: string } {
  const architecture = metadata.string('general.architecture');
  const className = Object.hasOwn(architectureClasses, architecture) ? architectureClasses[architecture] : undefined;
  if (className !== undefined) return { architecture, className };
  const known = Object.keys(architectureClasses).join(', ');
  throw metadata.refusal('general.architecture', `one of ${known} (a Mistral is a llama there)`);
}

function refuseOthers(metadata: JsonFields, key: (name: string) => string, contextLength: number): void {
  for (const [name, neutral] of neutralValues) {
    const value = metadata.value(key(name));
    if (value === undefined || value === neutral) continue;
    throw metadata.refusal(key(name), `absent or ${JSON.stringify(neutral)}`);
  }
  const window = key('attention.sliding_window');
  const width = metadata.integer(window, 0, { min: 0 });
  if (width > 0 && width < contextLength) throw metadata.refusal(window, `absent or at least ${contextLength}`);
}

/** Queries, keys and values must have one width, all of which is rotated. */
function readHeadDim(metadata: JsonFields, key: (name: string) => string, fallback: number): number {
  const keyLength = key('attention.key_length');
  const others = [key('attention.value_length'), key('rope.dimension_count')];
  const [given = keyLength] = [keyLength, ...others.toReversed()].filter((name) => metadata.has(name));
  const headDim = metadata.integer(given, fallback);
  for (const name of others) {
    if (metadata.integer(name, headDim) !== headDim) throw metadata.refusal(name, `${headDim}, the width of a head`);
  }
  return headDim;
}

/** The shape of the embedding. The model's vocabulary may be larger than the tokenizer's. */
export function embeddingSizes({ metadata, tensors }: GgufFile): {
  readonly vocabularySize: number;
  readonly hiddenSize: number;
} {
  const [vocabularySize, hiddenSize] = tensors.find(({ name }) => name === tokenEmbedding)?.shape ?? [];
  if (vocabularySize !== undefined && hiddenSize !== undefined) return { vocabularySize, hiddenSize };
  throw new EngineError('checkpoint_invalid', `${metadata.source}: there is no matrix ${tokenEmbedding}`);
}

/** The tensor of rotary factors, if the file has one in a readable format. */
export function findRopeFactors({ metadata, tensors }: GgufFile): GgufFile['tensors'][number] | undefined {
  const tensor = tensors.find(({ name }) => name === ropeFactors);
  if (tensor === undefined || (tensor.shape.length === 1 && tensor.format.name === 'F32')) return tensor;
  throw new EngineError('checkpoint_invalid', `${metadata.source}: ${ropeFactors} must be a list of F32 numbers`);
}
