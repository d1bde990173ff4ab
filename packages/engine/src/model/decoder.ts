/**
 * The layers of the decoder, written once. What an operation means depends on the use: over whole
 * sequences with gradients for training and scoring (`sequenceOperations.ts`), or step by step over
 * a cache of keys and values for generation (`cachedOperations.ts`).
 */
import type { DecoderConfig } from './config.js';
import { EMBEDDING, FINAL_NORM, type Projection } from './weights.js';

/** `V` stands for a matrix `[rows, width]`, a row for each token of the batch, or for each that `select` kept. */
export interface DecoderOperations<V> {
  /** The rows of the table `weight` for the tokens of the batch: `[rows, hiddenSize]`. */
  embed(weight: string): V;
  /** RMSNorm over every row. */
  rmsNorm(x: V, weight: string): V;
  /** RMSNorm over each of the `heads` slices of every row. */
  headNorm(x: V, weight: string, heads: number): V;
  /** `x Wᵀ`, with the bias that the model has and the LoRA term that the graph has for this projection. */
  project(x: V, layer: number, projection: Projection): V;
  /** Rotates queries and keys, then causal attention: `[rows, heads * headDim]`. */
  attention(query: V, key: V, value: V, layer: number): V;
  /** `silu(gate) * up` */
  swiGlu(gate: V, up: V): V;
  add(a: V, b: V): V;
  /** The rows whose next token is asked for. */
  select(x: V): V;
}

/** From tokens to the normed hidden states that the head reads, `[selected rows, hiddenSize]`. */
export function decode<V>(config: DecoderConfig, operations: DecoderOperations<V>): V {
  let hidden = operations.embed(EMBEDDING);
  for (let layer = 0; layer < config.layers; layer += 1) {
    hidden = decodeLayer(config, operations, layer, hidden);
  }
  return operations.rmsNorm(hidden, FINAL_NORM);
}

/** One layer; of the last one only the selected rows come out. */
export function decodeLayer<V>(config: DecoderConfig, operations: DecoderOperations<V>, layer: number, residual: V): V {
  const prefix = `model.layers.${layer}`;

  const attentionInput = operations.rmsNorm(residual, `${prefix}.input_layernorm.weight`);
  let query = operations.project(attentionInput, layer, 'q_proj');
  let key = operations.project(attentionInput, layer, 'k_proj');
  const value = operations.project(attentionInput, layer, 'v_proj');
  if (config.qkNorm) {
    query = operations.headNorm(query, `${prefix}.self_attn.q_norm.weight`, config.heads);
    key = operations.headNorm(key, `${prefix}.self_attn.k_norm.weight`, config.kvHeads);
  }
  const attended = operations.attention(query, key, value, layer);

  // After the last attention no token influences another, so only the rows that are asked for go on.
  const kept = layer === config.layers - 1 ? (x: V) => operations.select(x) : (x: V) => x;
  const afterAttention = operations.add(kept(residual), operations.project(kept(attended), layer, 'o_proj'));

  const ffnInput = operations.rmsNorm(afterAttention, `${prefix}.post_attention_layernorm.weight`);
  const gate = operations.project(ffnInput, layer, 'gate_proj');
  const up = operations.project(ffnInput, layer, 'up_proj');
  return operations.add(afterAttention, operations.project(operations.swiGlu(gate, up), layer, 'down_proj'));
}
