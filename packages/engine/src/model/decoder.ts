/**
 * The layers of the decoder, written once. What an operation means depends on the use: whole sequences with gradients
 * for training and scoring (`sequenceOperations.ts`), or single steps over a key-value cache for generation
 * (`cachedOperations.ts`).
 */
import type { DecoderConfig } from './config.js';
import { embeddingName, finalNormName, type Projection } from './weights.js';

/**
 * `V` is a matrix `[rows, width]` with one row for each token of the batch, or for each that `select` kept. `H` holds
 * queries, keys and values in any form that suits the use.
 */
export interface DecoderOperations<V, H> {
  /** The rows of the table `weight` for the tokens of the batch: `[rows, hiddenSize]`. */
  embed(weight: string): V;
  /** RMSNorm over every row. */
  rmsNorm(x: V, weight: string): V;
  /** `x Wᵀ`, plus the bias and the LoRA term that the model and graph have for this projection. */
  project(x: V, layer: number, projection: Projection): V;
  /** The projections for attention, with an RMSNorm over each head of queries and keys if the model has one. */
  heads(x: V, layer: number): H;
  /** Rotates queries and keys and computes causal attention: `[rows, heads * headDim]`. */
  attention(heads: H, layer: number): V;
  /** `silu(gate) * up` of the projections of these names: `[rows, ffnSize]`. */
  gatedUnit(x: V, layer: number): V;
  /** The result goes to `rmsNorm` once before any other use, so that both can be computed together. */
  add(a: V, b: V): V;
  /** The rows whose next token is wanted. */
  select(x: V): V;
}

/** Computes the normed hidden states for the head from the tokens: `[selected rows, hiddenSize]`. */
export function decode<V, H>(config: DecoderConfig, operations: DecoderOperations<V, H>): V {
  return decodeFrom(config, operations, 0, operations.embed(embeddingName));
}

/** Like `decode`, from the states `[rows, hiddenSize]` that the layers below `firstLayer` gave. */
export function decodeFrom<V, H>(
  config: DecoderConfig,
  operations: DecoderOperations<V, H>,
  firstLayer: number,
  states: V,
): V {
  const hidden = decodeLayers(config, operations, { from: firstLayer, to: config.layers }, states);
  return operations.rmsNorm(hidden, finalNormName);
}

/** Computes the layers `from` to `to - 1`. */
export function decodeLayers<V, H>(
  config: DecoderConfig,
  operations: DecoderOperations<V, H>,
  { from, to }: { readonly from: number; readonly to: number },
  states: V,
): V {
  let hidden = states;
  for (let layer = from; layer < to; layer += 1) hidden = decodeLayer(config, operations, layer, hidden);
  return hidden;
}

/** Computes one layer. The last layer returns only the selected rows. */
export function decodeLayer<V, H>(
  config: DecoderConfig,
  operations: DecoderOperations<V, H>,
  layer: number,
  residual: V,
): V {
  const prefix = `model.layers.${layer}`;

  const attentionInput = operations.rmsNorm(residual, `${prefix}.input_layernorm.weight`);
  const attended = operations.attention(operations.heads(attentionInput, layer), layer);

  // After the last attention no token influences another, so only the selected rows go on.
  const kept = layer === config.layers - 1 ? (x: V) => operations.select(x) : (x: V) => x;
  const afterAttention = operations.add(kept(residual), operations.project(kept(attended), layer, 'o_proj'));

  const ffnInput = operations.rmsNorm(afterAttention, `${prefix}.post_attention_layernorm.weight`);
  return operations.add(afterAttention, operations.project(operations.gatedUnit(ffnInput, layer), layer, 'down_proj'));
}
