/** The graph that shows the inputs of the projections. */
import { Tape, type Value } from '../autodiff/tape.js';
import { EngineError } from '../engine.js';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import type { DecoderConfig } from './config.js';
import { decode } from './decoder.js';
import { WeightInputs, type WeightOptions } from './inputs.js';
import type { LoraGroup } from './loraGroups.js';
import { SequenceOperations } from './sequenceOperations.js';
import { projectionName, type Projection } from './weights.js';

/**
 * A serialised model without an adapter that reads B sequences and returns the inputs of these projections at N chosen
 * positions.
 *
 * Inputs besides the weights under their own names and the rotary tables (`weightFeeds`):
 * - `ids` int64 `[B, T]`, right-padded with any token.
 * - `positions` int64 `[N]`: indices among the B * T rows.
 *
 * Outputs: float32 `[N, width]` for each of `groups`, under its name.
 */
export function buildInputsGraph(
  config: DecoderConfig,
  groups: readonly LoraGroup[],
  options: Pick<WeightOptions, 'format'> = {},
): Buffer {
  const graph = new GraphBuilder();
  graph.input('ids', 'int64', ['B', 'T']);
  graph.input('positions', 'int64', ['N']);
  const tape = new Tape(graph);
  const operations = new RecordingOperations(tape, config, new WeightInputs(graph, config, options), () => undefined);
  decode(config, operations);
  for (const { name, width, parts } of groups) {
    const x = operations.inputOf(parts[0]?.name ?? '');
    graph.output(name, x, 'float32', ['N', width]);
  }
  return graph.encode();
}

/** Records the input of each projection at the chosen positions. */
class RecordingOperations extends SequenceOperations {
  private readonly given = new Map<string, Value>();
  /** Everything after the selection has only the chosen rows. */
  private hasSelected = false;

  inputOf(projection: string): string {
    const x = this.given.get(projection);
    if (x === undefined) throw new EngineError('internal', `the decoder has no projection ${projection}`);
    return x.name;
  }

  override project(x: Value, layer: number, projection: Projection): Value {
    this.given.set(projectionName(layer, projection), this.hasSelected ? x : this.chosen(x));
    return super.project(x, layer, projection);
  }

  override select(x: Value): Value {
    this.hasSelected = true;
    return this.chosen(x);
  }

  private chosen(x: Value): Value {
    return super.select(x);
  }
}
