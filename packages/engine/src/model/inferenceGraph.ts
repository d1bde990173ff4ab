/** The graph that generation runs: prompts into the cache, then one token at a time. */
import { GraphBuilder } from '../onnx/graphBuilder.js';
import { CachedOperations } from './cachedOperations.js';
import type { DecoderConfig } from './config.js';
import { decode } from './decoder.js';
import type { WeightFormat } from './quantization.js';
import { ServingWeights } from './servingWeights.js';
import { headName } from './weights.js';

export interface InferenceGraphOptions {
  /** Whether every batch row has LoRA matrices; without, no adapter is fed and none is computed. */
  readonly adapters: boolean;
  readonly format: WeightFormat;
}

export interface InferenceGraph {
  readonly model: Buffer;
  /** Names of the constants that its session must be given, see `constantBytes`. */
  readonly constants: readonly string[];
}

/**
 * A serialised model that appends S tokens to each of B sequences and predicts what follows them.
 *
 * Inputs, next to the embedding under its own name and the rotary tables (`tableFeeds`):
 * - `ids` int64 `[B, S]`: the new tokens, right-padded with any.
 * - `positions` int64 `[B, S]`: the place of each new token in its sequence.
 * - `last` int64 `[B, 1]`: for each sequence the index of its last new token among the B * S rows.
 * - `past.key.N`, `past.value.N` float32 `[B, kvHeads, C, headDim]` for every layer N; C is the cache's
 *   capacity in tokens, at least 1. All of it must be finite.
 * - `lengths` int64 `[2]`: C and S.
 * - `bounds`, or `bounds.W` for the layers with a window of W tokens, float32 `[B, 1, S, C + S]`: what the scores of past and new tokens are
 *   at most; a token with a score of -1e9 has no influence (`stepFeeds`).
 * - with `adapters`, for every `LoraGroup` `<name>.lora_A` `[1, N, R, in]` and `<name>.lora_B` `[1, 1, N, R, outs]`, B
 *   transposed and multiplied by alpha / rank beforehand; N is B, or 1 for one adapter in all rows. R may be another for each
 *   group: adapters of a smaller rank, and rows without an adapter, are filled up with zeros.
 *
 * Outputs: `logits` float32 `[B, 1, vocabularySize]`, and `state` float32 `[2 * layers * B, kvHeads, S, headDim]`: the
 * keys, then the values of the new tokens, layer by layer, for the caller to put into the cache.
 */
export function buildInferenceGraph(config: DecoderConfig, options: InferenceGraphOptions): InferenceGraph {
  const graph = new GraphBuilder();
  graph.input('ids', 'int64', ['B', 'S']);
  graph.input('positions', 'int64', ['B', 'S']);
  graph.input('lengths', 'int64', [2]);
  graph.input('last', 'int64', ['B', 1]);
  const weights = new ServingWeights(graph, config, options.format);
  const operations = new CachedOperations(graph, config, weights, options.adapters);
  const hidden = decode(config, operations);
  const logits = weights.product(hidden, [headName(config)]);
  graph.output('logits', logits, 'float32', ['B', 1, config.vocabularySize]);
  graph.output('state', operations.state(), 'float32', ['N', config.kvHeads, 'S', config.headDim]);
  return { model: graph.encode(), constants: graph.externalConstants };
}
