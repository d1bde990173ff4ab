/** Declaring the weights as graph inputs, and the feeds that go with them. */
import { EngineError } from '../engine.js';
import { FloatMatrix, type FrozenMatrix } from '../autodiff/linear.js';
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import { Tensor } from '../onnx/tensor.js';
import { BlockMatrix } from './blockMatrix.js';
import { cachedHeadDim, type DecoderConfig } from './config.js';
import type { WeightFormat } from './quantization.js';
import { ropeTables, type RopeTables } from './ropeTables.js';
import { decoderWeightShapes, EMBEDDING, type DecoderWeights, type WeightTensor } from './weights.js';

export const ROPE_COS = 'rope.cos';
export const ROPE_SIN = 'rope.sin';

export type Feeds = Readonly<Record<string, Tensor>>;

/** Ends the name of a matrix that is a constant of its graph. */
const CONSTANT = '.constant';

export interface WeightOptions {
  /** How the matrices are fed; `f32` without a word. */
  readonly format?: WeightFormat;
  /** Whether products have constants, as there may be of `f32`; false without a word. */
  readonly constants?: boolean;
}

/**
 * Declares weights as graph inputs when they are first used. With `constants` the factors of products are constants
 * instead, see `factorConstants`, which ONNX Runtime arranges for its kernels once; the price is a copy of the matrix
 * for either order in which it is read.
 */
export class WeightInputs {
  private readonly shapes: ReadonlyMap<string, readonly number[]>;

  constructor(
    private readonly graph: GraphBuilder,
    private readonly config: DecoderConfig,
    private readonly options: WeightOptions = {},
  ) {
    this.shapes = decoderWeightShapes(config);
  }

  weight(name: string): string {
    return this.graph.input(name, 'float32', this.shapeOf(name));
  }

  matrix(name: string): FrozenMatrix {
    const { format = 'f32', constants = false } = this.options;
    if (format !== 'f32') return new BlockMatrix(this.graph, name, this.shapeOf(name), format);
    const summand = (): string => this.weight(name);
    const constant = (): string => this.graph.externalConstant(`${name}${CONSTANT}`, 'float32', this.shapeOf(name));
    return new FloatMatrix(this.graph, constants ? constant : summand, summand);
  }

  /** The rotary table `[contextLength, headDim / 2]`. */
  rope(name: typeof ROPE_COS | typeof ROPE_SIN): string {
    return this.graph.input(name, 'float32', [this.config.contextLength, this.config.headDim / 2]);
  }

  private shapeOf(name: string): readonly number[] {
    const shape = this.shapes.get(name);
    if (shape === undefined) throw new EngineError('internal', `The decoder has no weight ${name}.`);
    return shape;
  }
}

/** The weights, as graphs have them for constants. */
export function factorConstants(weights: Feeds): Feeds {
  return Object.fromEntries(Object.entries(weights).map(([name, tensor]) => [`${name}${CONSTANT}`, tensor]));
}

/**
 * Tensors over the weights' own memory and the rotary tables, to be shared by all sessions of a model.
 * @param shapes of those that graphs are fed as float32.
 * @throws EngineError `checkpoint_invalid` naming a weight that is missing or of another shape.
 */
export function weightFeeds(
  config: DecoderConfig,
  weights: DecoderWeights,
  shapes = decoderWeightShapes(config),
): Feeds {
  const feeds: Record<string, Tensor> = {};
  for (const [name, shape] of shapes) {
    const weight = weights.get(name);
    if (weight === undefined) throw new EngineError('checkpoint_invalid', `The weight ${name} is missing.`);
    if (weight.shape.join() !== shape.join()) {
      const message = `The weight ${name} has shape [${weight.shape.join()}]; the configuration asks for [${shape.join()}].`;
      throw new EngineError('checkpoint_invalid', message);
    }
    feeds[name] = new Tensor(weight.data, shape);
  }
  return { ...feeds, ...ropeFeeds(ropeTables(config)) };
}

/**
 * What a graph that serves looks up: the embedding and the rotary tables, which are as wide as half a head in the
 * cache.
 */
export function tableFeeds(config: DecoderConfig, { shape, data }: WeightTensor): Feeds {
  return {
    [EMBEDDING]: new Tensor(data, shape),
    ...ropeFeeds(ropeTables(config, cachedHeadDim(config) / 2)),
  };
}

function ropeFeeds({ cos, sin }: RopeTables): Feeds {
  return {
    [ROPE_COS]: new Tensor(cos.data, cos.shape),
    [ROPE_SIN]: new Tensor(sin.data, sin.shape),
  };
}
