/** The graph that scores given tokens. */
import { linear } from '../autodiff/linear.js';
import { Tape } from '../autodiff/tape.js';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import type { DecoderConfig } from './config.js';
import { decode } from './decoder.js';
import { WeightInputs, type WeightOptions } from './inputs.js';
import { SequenceOperations, type LoraLookup } from './sequenceOperations.js';
import { headName, loraName, projectionName, projectionShape } from './weights.js';

export interface ScoreGraphOptions extends Pick<WeightOptions, 'format'> {
  /** Whether one adapter applies to the whole batch. */
  readonly adapter: boolean;
}

/**
 * A serialised model that reads B sequences and returns, at N chosen positions, the probability of a token and the K
 * most probable tokens.
 *
 * Inputs besides the weights under their own names and the rotary tables (`weightFeeds`):
 * - `ids` int64 `[B, T]`, right-padded with any token.
 * - `positions` int64 `[N]`: indices among the B * T rows; row b * T + t predicts the token t + 1 of sequence b.
 * - `targets` int64 `[N]`: the token to score at each position.
 * - `k` int64 `[1]`: K, at least 1.
 * - with `adapter`, for every projection `<name>.lora_A` `[R, in]` and `<name>.lora_B` `[out, R]`. B is already
 *   multiplied by alpha / rank. R may differ between projections.
 *
 * Outputs: `logprobs` float32 `[N]`; `top.ids` int64 and `top.logprobs` float32 `[N, K]` in descending order, the lower
 * id first for equal probabilities. The run holds about two matrices `[N, vocabularySize]`, so bound N for large
 * vocabularies.
 */
export function buildScoreGraph(config: DecoderConfig, options: ScoreGraphOptions): Buffer {
  const graph = new GraphBuilder();
  graph.input('ids', 'int64', ['B', 'T']);
  graph.input('positions', 'int64', ['N']);
  graph.input('targets', 'int64', ['N']);
  graph.input('k', 'int64', [1]);
  const tape = new Tape(graph);
  const inputs = new WeightInputs(graph, config, options);
  const lora: LoraLookup = (layer, projection) => {
    if (!options.adapter) return undefined;
    const [out, width] = projectionShape(config, projection);
    const rank = `${projectionName(layer, projection)}.rank`;
    const a = graph.input(loraName(layer, projection, 'A'), 'float32', [rank, width]);
    const b = graph.input(loraName(layer, projection, 'B'), 'float32', [out, rank]);
    return { a: tape.constant(a), b: tape.constant(b), scale: 1 };
  };
  const hidden = decode(config, new SequenceOperations(tape, config, inputs, lora));
  const logits = linear(tape, hidden, inputs.matrix(headName(config)));
  const logProbabilities = graph.node('LogSoftmax', [logits.name], { axis: { int: -1 } });
  const columns = graph.node('Unsqueeze', ['targets', graph.integers([1])]);
  const picked = graph.node('GatherElements', [logProbabilities, columns], { axis: { int: 1 } });
  graph.output('logprobs', graph.node('Squeeze', [picked, graph.integers([1])]), 'float32', ['N']);
  graph.nodeInto('TopK', [logProbabilities, 'k'], { axis: { int: -1 } }, ['top.logprobs', 'top.ids']);
  graph.declareOutput('top.logprobs', 'float32', ['N', 'K']);
  graph.declareOutput('top.ids', 'int64', ['N', 'K']);
  return graph.encode();
}
