/**
 * The layers of the decoder, written once. What an operation means depends on the use: over whole
 * sequences with gradients for training and scoring (`sequenceOperations.ts`), or step by step over
 * a cache of keys and values for generation (`cachedOperations.ts`).
 */
import type { DecoderConfig } from './config.js';
import { EMBEDDING, FINAL_NORM, type Projection } from './weights.js';

/**
 * `V` stands for a matrix `[rows, width]`, a row for each token of the batch, or for each that `select` kept; `H` for
 * queries, keys and values in whatever form suits the use.
 */
export interface DecoderOperations<V, H> {
  /** The rows of the table `weight` for the tokens of the batch: `[rows, hiddenSize]`. */
  embed(weight: string): V;
  /** RMSNorm over every row. */
  rmsNorm(x: V, weight: string): V;
  /** `x Wᵀ`, with the bias that the model has and the LoRA term that the graph has for this projection. */
  project(x: V, layer: number, projection: Projection): V;
  /** The projections for attention, with an RMSNorm over each head of queries and keys where the model has one. */
  heads(x: V, layer: number): H;
  /** Rotates queries and keys, then causal attention: `[rows, heads * headDim]`. */
  attention(heads: H, layer: number): V;
  /** `silu(gate) * up` of the projections of this name: `[rows, ffnSize]`. */
  gatedUnit(x: V, layer: number): V;
  /** What it gives is given to `rmsNorm`, once, before it is used otherwise: then both may be computed together. */
  add(a: V, b: V): V;
  /** The rows whose next token is asked for. */
  select(x: V): V;
}

/** From tokens to the normed hidden states that the head reads, `[selected rows, hiddenSize]`. */
export function decode<V, H>(config: DecoderConfig, operations: DecoderOperations<V, H>): V {
  let hidden = operations.embed(EMBEDDING);
  for (let layer = 0; layer < config.layers; layer += 1) {
    hidden = decodeLayer(config, operations, layer, hidden);
  }
  return operations.rmsNorm(hidden, FINAL_NORM);
}

/** One layer; of the last one only the selected rows come out. */
export function decodeLayer<V, H>(
  config: DecoderConfig,
  operations: DecoderOperations<V, H>,
  layer: number,
  residual: V,
): V {
  const prefix = `model.layers.${layer}`;

  const attentionInput = operations.rmsNorm(residual, `${prefix}.input_layernorm.weight`);
  const attended = operations.attention(operations.heads(attentionInput, layer), layer);

  // After the last attention no token influences another, so only the rows that are asked for go on.
  const kept = layer === config.layers - 1 ? (x: V) => operations.select(x) : (x: V) => x;
  const afterAttention = operations.add(kept(residual), operations.project(kept(attended), layer, 'o_proj'));

  const ffnInput = operations.rmsNorm(afterAttention, `${prefix}.post_attention_layernorm.weight`);
  return operations.add(afterAttention, operations.project(operations.gatedUnit(ffnInput, layer), layer, 'down_proj'));
}
