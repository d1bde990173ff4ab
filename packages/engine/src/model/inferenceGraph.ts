/** The graph of generation: reads prompts into the cache, then generates one token at a time. */
import { GraphBuilder } from '../onnx/graphBuilder.js';
import { CachedOperations } from './cachedOperations.js';
import type { DecoderConfig } from './config.js';
import { decode } from './decoder.js';
import type { WeightFormat } from './quantization.js';
import { ServingWeights } from './servingWeights.js';
import { headName } from './weights.js';

export interface InferenceGraphOptions {
  /** Whether every batch row has LoRA matrices. Otherwise no adapter is fed or computed. */
  readonly adapters: boolean;
  readonly format: WeightFormat;
}

export interface InferenceGraph {
  readonly model: Buffer;
  /** Names of the constants that the session needs, see `constantBytes`. */
  readonly constants: readonly string[];
}

/**
 * A serialised model that appends S tokens to each of B sequences and predicts what follows: one token to each, or
 * several to a single one.
 *
 * Inputs besides the embedding and the rotary tables (`tableFeeds`):
 * - `ids` int64 `[B, S]`: the new tokens.
 * - `ends` int32 `[B]`: the position of each sequence's last new token.
 * - `length` int32 `[1]`: tokens of the longest sequence, new ones included; at most C.
 * - `last` int64 `[B, 1]`: the index of each sequence's last new token among the B * S rows.
 * - `past.key.N`, `past.value.N` float32 `[B, kvHeads, C, cachedHeadDim]` for every layer N. C is the cache's capacity
 *   in tokens. Anything beyond a sequence's end is ignored.
 * - with `adapters`, for every `LoraGroup` `<name>.lora_A` `[1, N, R, in]` and `<name>.lora_B` `[1, 1, N, R, outs]`. B
 *   is transposed and already multiplied by alpha / rank. N is B, or 1 for one adapter in all rows. R may differ
 *   between groups. Adapters of smaller rank, and rows without an adapter, are padded with zeros.
 *
 * Outputs: `logits` float32 `[B, 1, vocabularySize]`, and `present.key.N`, `present.value.N`: the cache with the new
 * tokens' keys and values, to be written over the input cache.
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
