/** The graph that generation runs: prompts into the cache, then one token at a time. */
import { EngineError } from '../engine.js';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import { CachedOperations } from './cachedOperations.js';
import type { DecoderConfig } from './config.js';
import { decode } from './decoder.js';
import { WeightInputs } from './inputs.js';
import { headName } from './weights.js';

export interface InferenceGraphOptions {
  /** Whether every batch row has LoRA matrices; without, no adapter is fed and none is computed. */
  readonly adapters: boolean;
}

/**
 * A serialised model that appends S tokens to each of B sequences and predicts what follows them.
 *
 * Inputs, next to the weights under their own names and the rotary tables (`weightFeeds`):
 * - `ids` int64 `[B, S]`: the new tokens, right-padded. A sequence continued with S > 1 onto a cache
 *   that already holds tokens must be alone (B = 1); prompts into empty caches may be batched.
 * - `seqlens` int32 `[B]`: tokens of each sequence after this run, minus 1.
 * - `total` int32 scalar: the greatest number of tokens of a sequence after this run.
 * - `last` int64 `[B]`: for each sequence the index of its last new token among the B * S rows.
 * - `past.key.N`, `past.value.N` float32 `[B, kvHeads, C, headDim]` for every layer N; C is the cache's
 *   capacity in tokens, at most `contextLength`.
 * - with `adapters`, for every projection `<name>.lora_A` `[B, R, in]` and `<name>.lora_B` `[B, out, R]`, B
 *   multiplied by alpha / rank beforehand. R is free: adapters of a smaller rank, and rows without an
 *   adapter, are filled up with zeros.
 *
 * Outputs: `logits` float32 `[B, vocabularySize]`, and `present.key.N`, `present.value.N`. Fetch these into
 * the buffers of `past.*`: the cache is then extended in place.
 *
 * @throws EngineError `checkpoint_invalid` for a `headDim` that the attention operator cannot rotate.
 */
export function buildInferenceGraph(config: DecoderConfig, options: InferenceGraphOptions): Buffer {
  if (config.headDim % 16 !== 0) {
    throw new EngineError('checkpoint_invalid', `head_dim is ${config.headDim}; it must be a multiple of 16.`);
  }
  const graph = new GraphBuilder();
  graph.input('ids', 'int64', ['B', 'S']);
  graph.input('seqlens', 'int32', ['B']);
  graph.input('total', 'int32', []);
  graph.input('last', 'int64', ['B']);
  const inputs = new WeightInputs(graph, config);
  const hidden = decode(config, new CachedOperations(graph, config, inputs, options.adapters));
  const logits = graph.node('Gemm', [hidden, inputs.weight(headName(config))], { transB: { int: 1 } });
  graph.output('logits', logits, 'float32', ['B', config.vocabularySize]);
  return graph.encode();
}
