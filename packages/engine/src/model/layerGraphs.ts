/**
 * The training step in pieces, for models whose activations do not fit in memory at once. Between the pieces only the
 * hidden states `[B * T, hiddenSize]` that enter each layer are kept; a layer's own activations are computed again when
 * its gradients are (Chen et al. 2016, https://arxiv.org/abs/1604.06174), with the same operations as in the graph of
 * the whole step.
 *
 * All pieces take `ids` int64 `[B, T]`, for their shape, and with `packed` what `buildTrainingGraph` then takes.
 */
import { Tape } from '../autodiff/tape.js';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import type { DecoderConfig } from './config.js';
import { decodeLayer } from './decoder.js';
import { WeightInputs, type WeightOptions } from './inputs.js';
import { LoraParameters } from './loraParameters.js';
import { SequenceOperations } from './sequenceOperations.js';
import { declareTargets, outputLoss } from './trainingGraph.js';
import { FINAL_NORM, type LoraModule } from './weights.js';

export interface LayerGraphOptions extends Pick<WeightOptions, 'format'> {
  /** Modules of the layer. */
  readonly modules: readonly LoraModule[];
  /** Whether rows hold several sequences. */
  readonly packed: boolean;
  /** Whether the gradient of the hidden states that enter the layer is needed, because a layer below is adapted. */
  readonly inputGradient: boolean;
}

export const HIDDEN_STATES = 'hidden';
export const NEXT_HIDDEN_STATES = 'hidden.next';
export const HIDDEN_GRADIENT = 'hidden.gradient';
export const NEXT_HIDDEN_GRADIENT = 'hidden.next.gradient';

/** From `hidden` to `hidden.next`. */
export function buildForwardGraph(
  config: DecoderConfig,
  layer: number,
  options: Omit<LayerGraphOptions, 'inputGradient'>,
): Buffer {
  const { graph, hidden, operations } = openLayer(config, { ...options, inputGradient: false });
  const next = decodeLayer(config, operations, layer, hidden);
  graph.output(NEXT_HIDDEN_STATES, next.name, 'float32', ['R', config.hiddenSize]);
  return graph.encode();
}

/**
 * From `hidden` and `hidden.next.gradient` to the gradients of the layer's matrices and, if asked for,
 * `hidden.gradient`.
 */
export function buildBackwardGraph(config: DecoderConfig, layer: number, options: LayerGraphOptions): Buffer {
  const { graph, tape, hidden, lora, operations } = openLayer(config, options);
  const next = decodeLayer(config, operations, layer, hidden);
  tape.backward(next, graph.input(NEXT_HIDDEN_GRADIENT, 'float32', ['R', config.hiddenSize]));
  lora.outputGradients();
  if (options.inputGradient) {
    graph.output(HIDDEN_GRADIENT, tape.gradient(hidden), 'float32', ['R', config.hiddenSize]);
  }
  return graph.encode();
}

/**
 * The last layer, the head and the loss, forward and backward: from `hidden`, `positions` and the targets to `loss`,
 * the gradients of the layer's matrices and, if asked for, `hidden.gradient`.
 */
export function buildTopGraph(config: DecoderConfig, options: LayerGraphOptions): Buffer {
  const { graph, tape, inputs, hidden, lora, operations } = openLayer(config, options);
  const targets = declareTargets(graph);
  const last = decodeLayer(config, operations, config.layers - 1, hidden);
  const loss = outputLoss(tape, config, inputs, operations.rmsNorm(last, FINAL_NORM), targets);
  tape.backward(loss);
  lora.outputGradients();
  if (options.inputGradient) {
    graph.output(HIDDEN_GRADIENT, tape.gradient(hidden), 'float32', ['R', config.hiddenSize]);
  }
  return graph.encode();
}

function openLayer(config: DecoderConfig, options: LayerGraphOptions) {
  const { modules, packed, inputGradient } = options;
  const graph = new GraphBuilder();
  graph.input('ids', 'int64', ['B', 'T']);
  const tape = new Tape(graph);
  const inputs = new WeightInputs(graph, config, options);
  const name = graph.input(HIDDEN_STATES, 'float32', ['R', config.hiddenSize]);
  const hidden = inputGradient ? tape.parameter(name) : tape.constant(name);
  const lora = new LoraParameters(tape, config, modules);
  const pair = lora.pair.bind(lora);
  return { graph, tape, inputs, hidden, lora, operations: new SequenceOperations(tape, config, inputs, pair, packed) };
}
