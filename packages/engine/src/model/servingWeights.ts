/**
 * The base weights in a graph that serves: the large matrices as constants, which ONNX Runtime arranges for its kernels
 * once.
 */
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import { cachedHeadDim, type DecoderConfig } from './config.js';
import { EngineError } from '../engine.js';
import { WeightInputs, type ROPE_COS, type ROPE_SIN } from './inputs.js';
import { BLOCK_FORMATS, packedSizes, type QuantizedFormat, type WeightFormat } from './quantization.js';
import { decoderWeightShapes, type WeightReader } from './weights.js';

/**
 * `accuracy_level` 4: the other operand is rounded to 8 bits, block by block, too. At level 1, where it is not, a row's
 * product depends on how many rows there are.
 */
const INT8_PRODUCTS = 4;

/** Bytes by the name of the constant that they are. */
export type ConstantBytes = ReadonlyMap<string, Uint8Array>;

/** The matrices of a model in blocks of 8 or 4 bits, see `loadQuantizedWeights`. */
export interface QuantizedWeights {
  readonly format: QuantizedFormat;
  /**
   * The bytes of a constant of one weight in their order, little by little; what is given is there until the next is
   * asked for.
   * @throws EngineError `checkpoint_invalid` when they cannot be read any more.
   */
  bytes(name: string): AsyncIterable<Uint8Array>;
}

type Part = 'values' | 'quantized' | 'scales';

/** The name of the constant that holds `part` of a weight, or of several one below the other. */
export function constantName(weights: string | readonly string[], part: Part): string {
  return `${[weights].flat().join(JOINT)}.${part}`;
}

/** Stands in no name of a weight. */
const JOINT = '+';

/** Where the constants of a graph that serves come from. */
export interface ConstantSource {
  readonly reader: WeightReader;
  readonly quantized: QuantizedWeights | undefined;
}

/** The bytes of a constant in their order, little by little; what is given is there until the next is asked for. */
export async function* constantBytes(name: string, { reader, quantized }: ConstantSource): AsyncGenerator<Uint8Array> {
  const part = name.slice(name.lastIndexOf('.') + 1);
  const weights = name.slice(0, -1 - part.length).split(JOINT);
  for (const weight of weights) {
    if (part === ('values' satisfies Part)) {
      for await (const { buffer, byteOffset, byteLength } of reader.blocks(weight)) {
        yield new Uint8Array(buffer, byteOffset, byteLength);
      }
    } else {
      if (quantized === undefined) throw new EngineError('internal', `the model has no ${part} of ${weight}`);
      yield* quantized.bytes(`${weight}.${part}`);
    }
  }
}

/**
 * Matrices that were arranged beforehand are several times faster for few rows, and a row's product does not depend on
 * how many rows there are, to the last bit. The tables that are only looked up stay graph inputs, without a copy.
 */
export class ServingWeights {
  private readonly inputs: WeightInputs;
  private readonly shapes: ReadonlyMap<string, readonly number[]>;

  constructor(
    private readonly graph: GraphBuilder,
    private readonly config: DecoderConfig,
    private readonly format: WeightFormat,
  ) {
    this.inputs = new WeightInputs(graph, config);
    this.shapes = decoderWeightShapes(config);
  }

  /** A table that is looked up. */
  table(name: string): string {
    return this.inputs.weight(name);
  }

  /** The rotary table `[contextLength, cachedHeadDim / 2]`, see `tableFeeds`. */
  rope(name: typeof ROPE_COS | typeof ROPE_SIN): string {
    return this.graph.input(name, 'float32', [this.config.contextLength, cachedHeadDim(this.config) / 2]);
  }

  /** A vector: a norm's weight, or a bias, or several one after the other. */
  vector(names: readonly string[]): string {
    return this.graph.externalConstant(constantName(names, 'values'), 'float32', [this.height(names)]);
  }

  /** `x Wᵀ + bias` for the matrix `[out, in]` of this name, or several one below the other, and x `[…, in]`. */
  product(x: string, names: readonly string[], biases?: readonly string[]): string {
    const [, width = 0] = this.shapes.get(names[0] ?? '') ?? [];
    const { format } = this;
    const shape = [this.height(names), width] as const;
    const product = format === 'f32' ? this.plain(x, names, shape) : this.quantized(x, names, shape, format);
    return biases === undefined ? product : this.graph.node('Add', [product, this.vector(biases)]);
  }

  private height(names: readonly string[]): number {
    return names.reduce((sum, name) => sum + (this.shapes.get(name)?.[0] ?? 0), 0);
  }

  private plain(x: string, names: readonly string[], shape: readonly [number, number]): string {
    const matrix = this.graph.externalConstant(constantName(names, 'values'), 'float32', shape);
    return this.graph.microsoftNode('FusedMatMul', [x, matrix], { transB: { int: 1 } });
  }

  private quantized(
    x: string,
    names: readonly string[],
    [out, width]: readonly [number, number],
    format: QuantizedFormat,
  ): string {
    const { blocks, blockBytes } = packedSizes(format, width);
    const { bits, blockSize } = BLOCK_FORMATS[format];
    const quantized = constantName(names, 'quantized');
    const operands = [
      x,
      this.graph.externalConstant(quantized, 'uint8', [out, blocks, blockBytes]),
      this.graph.externalConstant(constantName(names, 'scales'), 'float32', [out, blocks]),
    ];
    return this.graph.microsoftNode('MatMulNBits', operands, {
      K: { int: width },
      N: { int: out },
      bits: { int: bits },
      block_size: { int: blockSize },
      accuracy_level: { int: INT8_PRODUCTS },
    });
  }
}
