/** Declaring the weights as graph inputs, and the feeds that go with them. */
import { Tensor } from 'onnxruntime-node';
import { EngineError } from '../engine.js';
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import type { DecoderConfig } from './config.js';
import { ropeTables } from './ropeTables.js';
import { decoderWeightShapes, type DecoderWeights } from './weights.js';

export const ROPE_COS = 'rope.cos';
export const ROPE_SIN = 'rope.sin';

export type Feeds = Readonly<Record<string, Tensor>>;

/** Declares weights as graph inputs when they are first used. */
export class WeightInputs {
  private readonly shapes: ReadonlyMap<string, readonly number[]>;

  constructor(
    private readonly graph: GraphBuilder,
    private readonly config: DecoderConfig,
  ) {
    this.shapes = decoderWeightShapes(config);
  }

  weight(name: string): string {
    const shape = this.shapes.get(name);
    if (shape === undefined) throw new EngineError('internal', `The decoder has no weight ${name}.`);
    return this.graph.input(name, 'float32', shape);
  }

  /** The rotary table `[contextLength, headDim / 2]`. */
  rope(name: typeof ROPE_COS | typeof ROPE_SIN): string {
    return this.graph.input(name, 'float32', [this.config.contextLength, this.config.headDim / 2]);
  }
}

/**
 * Tensors over the weights' own memory and the rotary tables, to be shared by all sessions of a model.
 * @throws EngineError `checkpoint_invalid` naming a weight that is missing or of another shape.
 */
export function weightFeeds(config: DecoderConfig, weights: DecoderWeights): Feeds {
  const feeds: Record<string, Tensor> = {};
  for (const [name, shape] of decoderWeightShapes(config)) {
    const weight = weights.get(name);
    if (weight === undefined) throw new EngineError('checkpoint_invalid', `The weight ${name} is missing.`);
    if (weight.shape.join() !== shape.join()) {
      const message = `The weight ${name} has shape [${weight.shape.join()}]; the configuration asks for [${shape.join()}].`;
      throw new EngineError('checkpoint_invalid', message);
    }
    feeds[name] = new Tensor('float32', weight.data, shape);
  }
  const { cos, sin } = ropeTables(config);
  feeds[ROPE_COS] = new Tensor('float32', cos.data, cos.shape);
  feeds[ROPE_SIN] = new Tensor('float32', sin.data, sin.shape);
  return feeds;
}
