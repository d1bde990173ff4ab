/** Declares the weights as graph inputs and makes the feeds for them. */
import { EngineError } from '../engine.js';
import { FloatMatrix, type FrozenMatrix } from '../autodiff/linear.js';
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import { Tensor } from '../onnx/tensor.js';
import { BlockMatrix } from './blockMatrix.js';
import { cachedHeadDim, type DecoderConfig } from './config.js';
import { IntegerMatrix, RowCodes } from './integerMatrix.js';
import { isQuantized, type MatrixFormat } from './quantization.js';
import { ropeTables, type RopeTables } from './ropeTables.js';
import { decoderWeightShapes, embeddingName, headName, type DecoderWeights, type WeightTensor } from './weights.js';

export const ropeCos = 'rope.cos';
export const ropeSin = 'rope.sin';

export type Feeds = Readonly<Record<string, Tensor>>;

/** Suffix of a matrix that is a constant of its graph. */
const constantSuffix = '.constant';

export interface WeightOptions {
  /** How the matrices are fed. By default `f32`. */
  readonly format?: MatrixFormat;
  /** Whether factors of products are constants, which only `f32` allows. By default false. */
  readonly constants?: boolean;
}

/**
 * Declares weights as graph inputs on first use. With `constants` the factors of products are constants instead, see
 * `factorConstants`. ONNX Runtime arranges constants for its kernels once, at the price of a copy of the matrix for
 * each order of reading.
 */
export class WeightInputs {
  private readonly shapes: ReadonlyMap<string, readonly number[]>;
  private readonly rowCodes: RowCodes;

  constructor(
    private readonly graph: GraphBuilder,
    private readonly config: DecoderConfig,
    private readonly options: WeightOptions = {},
  ) {
    this.shapes = decoderWeightShapes(config);
    this.rowCodes = new RowCodes(graph);
  }

  weight(name: string): string {
    return this.graph.input(name, 'float32', this.shapeOf(name));
  }

  matrix(name: string): FrozenMatrix {
    const { format = 'f32', constants = false } = this.options;
    if (format === 'integers' && name !== headName(this.config)) {
      const [out = 0, width = 0] = this.shapeOf(name);
      return new IntegerMatrix(this.graph, this.rowCodes, name, [out, width]);
    }
    if (isQuantized(format)) return new BlockMatrix(this.graph, name, this.shapeOf(name), format);
    const summand = (): string => this.weight(name);
    const constant = (): string =>
      this.graph.externalConstant(`${name}${constantSuffix}`, 'float32', this.shapeOf(name));
    return new FloatMatrix(this.graph, constants ? constant : summand, summand);
  }

  /** The rotary table `[contextLength, headDim / 2]`. */
  rope(name: typeof ropeCos | typeof ropeSin): string {
    return this.graph.input(name, 'float32', [this.config.contextLength, this.config.headDim / 2]);
  }

  private shapeOf(name: string): readonly number[] {
    const shape = this.shapes.get(name);
    if (shape === undefined) throw new EngineError('internal', `the decoder has no weight ${name}`);
    return shape;
  }
}

/** The weights under the names of constants. */
export function factorConstants(weights: Feeds): Feeds {
  return Object.fromEntries(Object.entries(weights).map(([name, tensor]) => [`${name}${constantSuffix}`, tensor]));
}

/**
 * Tensors over the weights' own memory and the rotary tables. All sessions of a model share them.
 * @param shapes of the weights that graphs get as float32.
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
    if (weight === undefined) throw new EngineError('checkpoint_invalid', `the weight ${name} is missing`);
    if (weight.shape.join() !== shape.join()) {
      const message = `${name} has shape [${weight.shape.join(', ')}], but the configuration asks for [${shape.join(', ')}]`;
      throw new EngineError('checkpoint_invalid', message);
    }
    feeds[name] = new Tensor(weight.data, shape);
  }
  return { ...feeds, ...ropeFeeds(ropeTables(config)) };
}

/** The tables that a serving graph reads: the embedding, and rotary tables as wide as half a head in the cache. */
export function tableFeeds(config: DecoderConfig, { shape, data }: WeightTensor): Feeds {
  return {
    [embeddingName]: new Tensor(data, shape),
    ...ropeFeeds(ropeTables(config, cachedHeadDim(config) / 2)),
  };
}

function ropeFeeds({ cos, sin }: RopeTables): Feeds {
  return {
    [ropeCos]: new Tensor(cos.data, cos.shape),
    [ropeSin]: new Tensor(sin.data, sin.shape),
  };
}
