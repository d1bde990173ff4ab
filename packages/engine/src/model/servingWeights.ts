/**
 * The base weights in a serving graph. The large matrices are constants, which ONNX Runtime arranges for its kernels
 * once.
 */
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import { cachedHeadDim, type DecoderConfig } from './config.js';
import { EngineError } from '../engine.js';
import { sum } from '../support/numbers.js';
import { WeightInputs, type ropeCos, type ropeSin } from './inputs.js';
import { blockFormats, packedSizes, type QuantizedFormat, type WeightFormat } from './quantization.js';
import { decoderWeightShapes, type WeightReader } from './weights.js';

/**
 * `accuracy_level` 4 also rounds the other operand to 8 bits, block by block. Level 1 does not, but then a row's
 * product depends on the number of rows.
 */
const int8Products = 4;

/** Bytes by the name of their constant. */
export type ConstantBytes = ReadonlyMap<string, Uint8Array>;

/** The quantised matrices of a model, see `loadQuantizedWeights`. */
export interface QuantizedWeights {
  readonly format: QuantizedFormat;
  /**
   * Yields the bytes of one weight's constant in order. Each block is valid until the next is asked for.
   * @throws EngineError `checkpoint_invalid` when they can no longer be read.
   */
  bytes(name: string): AsyncIterable<Uint8Array>;
}

type Part = 'values' | 'quantized' | 'scales';

/** The name of the constant that holds `part` of a weight, or of several weights below each other. */
export function constantName(weights: string | readonly string[], part: Part): string {
  return `${[weights].flat().join(nameSeparator)}.${part}`;
}

/** Occurs in no weight's name. */
const nameSeparator = '+';

/** Where the constants of a serving graph come from. */
export interface ConstantSource {
  readonly reader: WeightReader;
  readonly quantized: QuantizedWeights | undefined;
}

/** Yields the bytes of a constant in order. Each block is valid until the next is asked for. */
export async function* constantBytes(name: string, { reader, quantized }: ConstantSource): AsyncGenerator<Uint8Array> {
  const part = name.slice(name.lastIndexOf('.') + 1);
  const weights = name.slice(0, -1 - part.length).split(nameSeparator);
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
 * Arranged matrices are several times faster for few rows, and a row's product does not depend on the number of rows,
 * to the last bit. Tables that are only looked up stay graph inputs and need no copy.
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
  rope(name: typeof ropeCos | typeof ropeSin): string {
    return this.graph.input(name, 'float32', [this.config.contextLength, cachedHeadDim(this.config) / 2]);
  }

  /** A vector: the weight of a norm, a bias, or several of these one after the other. */
  vector(names: readonly string[]): string {
    return this.graph.externalConstant(constantName(names, 'values'), 'float32', [this.height(names)]);
  }

  /** `x Wᵀ + bias` for x `[…, in]` and the matrix `[out, in]` of this name, or several below each other. */
  product(x: string, names: readonly string[], biases?: readonly string[]): string {
    const [, width = 0] = this.shapes.get(names[0] ?? '') ?? [];
    const { format } = this;
    const shape = [this.height(names), width] as const;
    const product = format === 'f32' ? this.plain(x, names, shape) : this.quantized(x, names, shape, format);
    return biases === undefined ? product : this.graph.node('Add', [product, this.vector(biases)]);
  }

  private height(names: readonly string[]): number {
    return sum(names.map((name) => this.shapes.get(name)?.[0] ?? 0));
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
    const { bits, blockSize } = blockFormats[format];
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
      accuracy_level: { int: int8Products },
    });
  }
}
