/** The graph of one training step: loss and gradients of every LoRA matrix. */
import { crossEntropy, type Targets } from '../autodiff/crossEntropy.js';
import { Tape, type Value } from '../autodiff/tape.js';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import type { DecoderConfig } from './config.js';
import { decodeFrom } from './decoder.js';
import { WeightInputs, type WeightOptions } from './inputs.js';
import { LoraParameters } from './loraParameters.js';
import { SequenceOperations } from './sequenceOperations.js';
import { embeddingName, headName, type LoraModule } from './weights.js';

export interface TrainingGraphOptions extends WeightOptions {
  /** The projections that the adapter changes, see `loraModules`. */
  readonly modules: readonly LoraModule[];
  /** Without gradients the graph computes only the loss. */
  readonly gradients: boolean;
  /** Whether rows hold several sequences. By default false. */
  readonly packed?: boolean;
  /** The layer that the graph begins with, from the states below it. By default 0, which begins with the tokens. */
  readonly firstLayer?: number;
}

/** The input of a graph that does not begin with the tokens. */
export const lowerStates = 'lower.states';

export interface TrainingGraph {
  /** The serialised model. */
  readonly model: Buffer;
  /** Names of its constants, see `factorConstants`. */
  readonly constants: readonly string[];
}

/**
 * A model that reads B rows of tokens and compares N chosen positions with their targets.
 *
 * Inputs besides the weights under their own names and the rotary tables (`weightFeeds`):
 * - `ids` int64 `[B, T]`, right-padded with any token.
 * - with `packed`, three int64 `[B, T]`: `segments` has the sequence that each token belongs to; `trunks` has the
 *   sequence that its sequence continues, or its own; `places` has the token's index, counted from the beginning of
 *   what its sequence continues. Otherwise each row is one sequence.
 * - with a `firstLayer` above 0, `lower.states` float32 `[B * T, hiddenSize]`: what the layers below it give.
 * - `positions` int64 `[N]`: supervised positions among the B * T tokens; position b * T + t predicts the token t + 1
 *   of row b.
 * - `target.ids` int64 and `target.probabilities` float32 `[N, K]`, and `weights` float32 `[N]`: see `Targets`.
 * - for every module `<name>.lora_A` `[rank, in]` and `<name>.lora_B` `[out, rank]`.
 *
 * Outputs: `loss` float32 scalar and, with `gradients`, `gradient.<name>` (`gradientName`) for each LoRA matrix in its
 * shape. Only the N supervised rows pass through the last feed-forward block and the head.
 */
export function buildTrainingGraph(config: DecoderConfig, options: TrainingGraphOptions): TrainingGraph {
  const graph = new GraphBuilder();
  graph.input('ids', 'int64', ['B', 'T']);
  const targets = declareTargets(graph);
  const tape = new Tape(graph);
  const inputs = new WeightInputs(graph, config, options);
  const { firstLayer = 0, modules, packed = false } = options;
  const lora = new LoraParameters(tape, config, modules);
  const operations = new SequenceOperations(tape, config, inputs, lora.pair.bind(lora), packed);
  const states =
    firstLayer === 0
      ? operations.embed(embeddingName)
      : tape.constant(graph.input(lowerStates, 'float32', ['R', config.hiddenSize]));
  const loss = outputLoss(tape, config, inputs, decodeFrom(config, operations, firstLayer, states), targets);
  if (options.gradients) {
    tape.backward(loss);
    lora.outputGradients();
  }
  return { model: graph.encode(), constants: graph.externalConstants };
}

/** Declares the supervised positions and their targets as inputs. */
export function declareTargets(graph: GraphBuilder): Targets {
  graph.input('positions', 'int64', ['N']);
  return {
    ids: graph.input('target.ids', 'int64', ['N', 'K']),
    probabilities: graph.input('target.probabilities', 'float32', ['N', 'K']),
    weights: graph.input('weights', 'float32', ['N']),
  };
}

/** Computes the loss from the normed hidden states of the supervised positions, as an output. */
export function outputLoss(
  tape: Tape,
  config: DecoderConfig,
  inputs: WeightInputs,
  hidden: Value,
  targets: Targets,
): Value {
  const loss = crossEntropy(tape, hidden, inputs.matrix(headName(config)), targets);
  tape.graph.output('loss', loss.name, 'float32', []);
  return loss;
}
