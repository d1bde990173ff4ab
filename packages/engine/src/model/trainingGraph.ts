/** The graph of one training step: loss and gradients of every LoRA matrix. */
import { crossEntropy } from '../autodiff/crossEntropy.js';
import { linear } from '../autodiff/operations.js';
import { Tape, type Value } from '../autodiff/tape.js';
import { EngineError } from '../engine.js';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import type { DecoderConfig } from './config.js';
import { decode } from './decoder.js';
import { WeightInputs } from './inputs.js';
import { SequenceOperations } from './sequenceOperations.js';
import { headName, loraName, moduleTensorSpecs, type LoraModule } from './weights.js';

export interface TrainingGraphOptions {
  /** What the adapter changes; see `loraModules`. */
  readonly modules: readonly LoraModule[];
  /** Without gradients the graph only computes the loss. */
  readonly gradients: boolean;
}

/** The name of the output that holds the gradient of the LoRA matrix `name`. */
export function gradientName(name: string): string {
  return `gradient.${name}`;
}

/**
 * A serialised model that reads B sequences and compares N chosen places with their targets.
 *
 * Inputs, next to the weights under their own names and the rotary tables (`weightFeeds`):
 * - `ids` int64 `[B, T]`, right-padded with any token.
 * - `positions` int64 `[N]`: supervised places among the B * T rows; row b * T + t predicts the token
 *   t + 1 of sequence b.
 * - `target.ids` int64 and `target.probabilities` float32 `[N, K]`, and `weights` float32 `[N]`: see `Targets`.
 * - for every module `<name>.lora_A` `[rank, in]` and `<name>.lora_B` `[out, rank]`.
 *
 * Outputs: `loss` float32 scalar and, with `gradients`, `gradient.<name>` for each LoRA matrix in its shape.
 * Only the N supervised rows pass through the last feed-forward block and the head.
 */
export function buildTrainingGraph(config: DecoderConfig, options: TrainingGraphOptions): Buffer {
  const graph = new GraphBuilder();
  graph.input('ids', 'int64', ['B', 'T']);
  graph.input('positions', 'int64', ['N']);
  const targets = {
    ids: graph.input('target.ids', 'int64', ['N', 'K']),
    probabilities: graph.input('target.probabilities', 'float32', ['N', 'K']),
    weights: graph.input('weights', 'float32', ['N']),
  };
  const tape = new Tape(graph);
  const inputs = new WeightInputs(graph, config);
  const specs = moduleTensorSpecs(config, options.modules);
  const matrices = new Map<string, Value>();
  for (const { name, shape } of specs) matrices.set(name, tape.parameter(graph.input(name, 'float32', shape)));

  const scales = new Map(options.modules.map(({ layer, projection, scale }) => [`${layer} ${projection}`, scale]));
  const operations = new SequenceOperations(tape, config, inputs, (layer, projection) => {
    const scale = scales.get(`${layer} ${projection}`);
    if (scale === undefined) return undefined;
    const matrix = (kind: 'A' | 'B') => lookUp(matrices, loraName(layer, projection, kind));
    return { a: matrix('A'), b: matrix('B'), scale };
  });
  const logits = linear(tape, decode(config, operations), inputs.weight(headName(config)));
  const loss = crossEntropy(tape, logits, targets);
  graph.output('loss', loss.name, 'float32', []);
  if (options.gradients) {
    tape.backward(loss);
    for (const { name, shape } of specs) {
      graph.output(gradientName(name), tape.gradient(lookUp(matrices, name)), 'float32', shape);
    }
  }
  return graph.encode();
}

function lookUp(matrices: ReadonlyMap<string, Value>, name: string): Value {
  const value = matrices.get(name);
  if (value === undefined) throw new EngineError('internal', `There is no LoRA matrix ${name}.`);
  return value;
}
