/** The base weights in a graph that serves: the large matrices as constants, which ONNX Runtime arranges for its kernels once. */
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import type { DecoderConfig } from './config.js';
import { EngineError } from '../engine.js';
import { WeightInputs, type Feeds, type ROPE_COS, type ROPE_SIN } from './inputs.js';
import { BLOCK_SIZE, FORMAT_BITS, packedSizes, type QuantizedFormat, type WeightFormat } from './quantization.js';
import { decoderWeightShapes } from './weights.js';

/** `accuracy_level` 4: the other operand is rounded to 8 bits, block by block, too. */
const INT8_PRODUCTS = 4;

/** Bytes by the name of the constant that they are. */
export type ConstantBytes = ReadonlyMap<string, Uint8Array>;

/** The matrices of a model in blocks, see `quantizeWeights`. */
export interface QuantizedWeights {
  readonly format: QuantizedFormat;
  readonly constants: ConstantBytes;
}

/** The name of the constant that holds `part` of a weight. */
export function constantName(weight: string, part: 'values' | 'quantized' | 'scales'): string {
  return `${weight}.${part}`;
}

/** The bytes of a graph's constants: those of the blocks, and for the rest those of the float32 weights, not copied. */
export function servingConstants(
  names: readonly string[],
  weights: Feeds,
  quantized: QuantizedWeights | undefined,
): ConstantBytes {
  const constants = new Map<string, Uint8Array>();
  for (const name of names) {
    const values = weights[name.replace(/\.values$/, '')]?.data;
    const bytes = quantized?.constants.get(name) ?? (values instanceof Float32Array ? bytesOf(values) : undefined);
    if (bytes === undefined) throw new EngineError('internal', `the model has no ${name}`);
    constants.set(name, bytes);
  }
  return constants;
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
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
    config: DecoderConfig,
    private readonly format: WeightFormat,
  ) {
    this.inputs = new WeightInputs(graph, config);
    this.shapes = decoderWeightShapes(config);
  }

  /** A table that is looked up. */
  table(name: string): string {
    return this.inputs.weight(name);
  }

  rope(name: typeof ROPE_COS | typeof ROPE_SIN): string {
    return this.inputs.rope(name);
  }

  /** A vector: a norm's weight, or a bias. */
  vector(name: string): string {
    return this.graph.externalConstant(constantName(name, 'values'), 'float32', this.shapes.get(name) ?? []);
  }

  /** `x Wᵀ + bias` for the matrix `[out, in]` of this name, and x `[…, in]`. */
  product(x: string, name: string, bias?: string): string {
    const [out = 0, width = 0] = this.shapes.get(name) ?? [];
    const { format } = this;
    const shape = [out, width] as const;
    const product = format === 'f32' ? this.plain(x, name, shape) : this.quantized(x, name, shape, format);
    return bias === undefined ? product : this.graph.node('Add', [product, this.vector(bias)]);
  }

  private plain(x: string, name: string, shape: readonly [number, number]): string {
    const matrix = this.graph.externalConstant(constantName(name, 'values'), 'float32', shape);
    return this.graph.microsoftNode('FusedMatMul', [x, matrix], { transB: { int: 1 } });
  }

  private quantized(x: string, name: string, [out, width]: readonly [number, number], format: QuantizedFormat): string {
    const { blocks, blockBytes } = packedSizes(format, width);
    const quantized = constantName(name, 'quantized');
    const operands = [
      x,
      this.graph.externalConstant(quantized, 'uint8', [out, blocks, blockBytes]),
      this.graph.externalConstant(constantName(name, 'scales'), 'float32', [out, blocks]),
    ];
    return this.graph.microsoftNode('MatMulNBits', operands, {
      K: { int: width },
      N: { int: out },
      bits: { int: FORMAT_BITS[format] },
      block_size: { int: BLOCK_SIZE },
      accuracy_level: { int: INT8_PRODUCTS },
    });
  }
}
