/** llama.cpp's names for a decoder's weights, and its order of their rows. */
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { decoderWeightShapes } from '../model/weights.js';
import type { GgufFile, GgufTensor } from './ggufFile.js';

export const tokenEmbedding = 'token_embd.weight';
export const outputHead = 'output.weight';
/** Divisors of the rotary frequencies. They are read into the configuration. */
export const ropeFactors = 'rope_freqs.weight';

const wholeModel: Readonly<Record<string, string>> = {
  token_embd: 'model.embed_tokens',
  output_norm: 'model.norm',
  output: 'lm_head',
};
const layerTensors: Readonly<Record<string, string>> = {
  attn_norm: 'input_layernorm',
  attn_q: 'self_attn.q_proj',
  attn_k: 'self_attn.k_proj',
  attn_v: 'self_attn.v_proj',
  attn_output: 'self_attn.o_proj',
  attn_q_norm: 'self_attn.q_norm',
  attn_k_norm: 'self_attn.k_norm',
  ffn_norm: 'post_attention_layernorm',
  ffn_gate: 'mlp.gate_proj',
  ffn_up: 'mlp.up_proj',
  ffn_down: 'mlp.down_proj',
};

/** A tensor of the file and its place in the checkpoint. */
export interface PlannedTensor {
  readonly source: GgufTensor;
  /** Hugging Face's name for it. */
  readonly name: string;
  /**
   * How many rows of a head to reorder: pairs are adjacent in the file and half a head apart in the checkpoint. 0 if
   * the rows stay.
   */
  readonly pairedRows: number;
}

/**
 * Every weight that the decoder needs, in its shape, and no other.
 * @throws EngineError `checkpoint_invalid` naming the tensor.
 */
export function planTensors({ metadata, tensors }: GgufFile, config: DecoderConfig): readonly PlannedTensor[] {
  const invalid = (message: string): EngineError =>
    new EngineError('checkpoint_invalid', `${metadata.source}: ${message}`);
  const shapes = new Map(decoderWeightShapes(config));
  const planned: PlannedTensor[] = [];
  for (const source of tensors) {
    if (source.name === ropeFactors) continue;
    const name = huggingFaceName(source.name);
    const shape = name === undefined ? undefined : shapes.get(name);
    if (name === undefined || shape === undefined) {
      throw invalid(`the tensor ${source.name.slice(0, 80)} is not part of a ${config.architecture} decoder`);
    }
    if (shape.join() !== source.shape.join()) {
      const [found, needed] = [source.shape, shape].map((each) => `[${each.join(', ')}]`);
      throw invalid(`${source.name} has the shape ${found ?? ''}, but the metadata ask for ${needed ?? ''}`);
    }
    shapes.delete(name);
    planned.push({ source, name, pairedRows: isPaired(name, config) ? config.headDim : 0 });
  }
  const [missing] = shapes.keys();
  if (missing !== undefined) throw invalid(`${shapes.size} tensors are missing, among them that of ${missing}`);
  return planned;
}

function huggingFaceName(name: string): string | undefined {
  const [, layer, part = '', suffix = ''] = /^(?:blk\.(\d+)\.)?([a-z_]+)\.(weight|bias)$/.exec(name) ?? [];
  const names = layer === undefined ? wholeModel : layerTensors;
  if (!Object.hasOwn(names, part)) return undefined;
  return `${layer === undefined ? '' : `model.layers.${layer}.`}${names[part] ?? ''}.${suffix}`;
}

/**
 * llama.cpp rotates adjacent dimensions of a Llama's heads. Hugging Face rotates dimensions half a head apart. So
 * llama.cpp's converter reorders the rows of queries and keys (`LlamaModel.permute` of convert_hf_to_gguf.py). For Qwen
 * both rotate alike.
 */
function isPaired(name: string, { architecture }: DecoderConfig): boolean {
  return architecture === 'llama' && /\.self_attn\.[qk]_proj\.weight$/.test(name);
}

/** The row in the file of the row at `row`, both counted from the beginning of a head. */
export function pairedRow(row: number, pairedRows: number): number {
  const half = pairedRows / 2;
  return row < half ? 2 * row : 2 * (row - half) + 1;
}
