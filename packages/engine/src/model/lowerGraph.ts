/** The graph of the layers that an adapter leaves as they are. */
import { Tape } from '../autodiff/tape.js';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import type { DecoderConfig } from './config.js';
import { decodeLayers } from './decoder.js';
import { WeightInputs, type WeightOptions } from './inputs.js';
import { SequenceOperations } from './sequenceOperations.js';
import { lowerStates, type TrainingGraph } from './trainingGraph.js';
import { embeddingName } from './weights.js';

/**
 * A model that reads one sequence and returns what the lowest layers give.
 *
 * Inputs besides the weights under their own names and the rotary tables (`weightFeeds`):
 * - `ids` int64 `[1, T]`.
 *
 * Output: `lower.states` float32 `[T, hiddenSize]`, the input of layer `layers`.
 * @param layers at least 1, and fewer than the model has.
 */
export function buildLowerGraph(config: DecoderConfig, layers: number, options: WeightOptions): TrainingGraph {
  const graph = new GraphBuilder();
  graph.input('ids', 'int64', ['B', 'T']);
  const tape = new Tape(graph);
  const operations = new SequenceOperations(tape, config, new WeightInputs(graph, config, options), () => undefined);
  const states = decodeLayers(config, operations, { from: 0, to: layers }, operations.embed(embeddingName));
  graph.output(lowerStates, states.name, 'float32', ['T', config.hiddenSize]);
  return { model: graph.encode(), constants: graph.externalConstants };
}
