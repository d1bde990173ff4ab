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
 * A serialised model that appends S tokens to each of B sequences, one to each or several to a single one, and predicts
 * what follows them.
 *
 * Inputs, next to the embedding and the rotary tables (`tableFeeds`):
 * - `ids` int64 `[B, S]`: the new tokens.
 * - `ends` int32 `[B]`: for each sequence the place of its last new token.
 * - `length` int32 `[1]`: tokens of the longest sequence, the new ones included; at most C.
 * - `last` int64 `[B, 1]`: for each sequence the index of its last new token among the B * S rows.
 * - `past.key.N`, `past.value.N` float32 `[B, kvHeads, C, cachedHeadDim]` for every layer N; C is the cache's capacity
 *   in tokens. What is beyond
 *   a sequence's end is not looked at.
 * - with `adapters`, for every `LoraGroup` `<name>.lora_A` `[1, N, R, in]` and `<name>.lora_B` `[1, 1, N, R, outs]`, B
 * transposed and multiplied by alpha / rank beforehand; N is B, or 1 for one adapter in all rows. R may be another for
 * each
 *   group: adapters of a smaller rank, and rows without an adapter, are filled up with zeros.
 *
 * Outputs: `logits` float32 `[B, 1, vocabularySize]`, and `present.key.N`, `present.value.N`: the cache with the new
 * tokens' keys and values, to be written over the one that came in.
 */
export function buildInferenceGraph(config: DecoderConfig, options: InferenceGraphOptions): InferenceGraph {
  const graph = new GraphBuilder();
  graph.input('ids', 'int64', ['B', 'S']);
  graph.input('ends', 'int32', ['B']);
  graph.input('length', 'int32', [1]);
  graph.input('last', 'int64', ['B', 1]);
  const weights = new ServingWeights(graph, config, options.format);
  const operations = new CachedOperations(graph, config, weights, options.adapters);
  const logits = weights.product(decode(config, operations), [headName(config)]);
  operations.end();
  graph.output('logits', logits, 'float32', ['B', 1, config.vocabularySize]);
  return { model: graph.encode(), constants: graph.externalConstants };
}
