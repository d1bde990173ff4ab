/** A quantised matrix of 8 or 4 bits in graphs over whole sequences, which are float32 otherwise. */
import { cut, join, linearProduct, type FrozenMatrix } from '../autodiff/linear.js';
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import { blockFormats, packedSizes, type QuantizedFormat } from './quantization.js';

/** The most numbers that are float32 at once. Each session keeps the memory of its largest use. */
const maxPieceNumbers = 2 ** 22;

/** The rows of a matrix from `start` to before `end`. */
export interface Piece {
  /** Graph inputs. */
  readonly codes: string;
  readonly scales: string;
  readonly start: number;
  readonly end: number;
}

/** The pieces of a matrix `[out, width]` of this name. Each is dequantised at once. */
export function piecesOf(
  name: string,
  [out = 0, width = 0]: readonly number[],
  maxNumbers = maxPieceNumbers,
): readonly Piece[] {
  const rows = Math.max(1, Math.floor(maxNumbers / width));
  return Array.from({ length: Math.ceil(out / rows) }, (_, index) => ({
    codes: `${name}.codes.${index}`,
    scales: `${name}.scales.${index}`,
    start: index * rows,
    end: Math.min(out, (index + 1) * rows),
  }));
}

/** Sizes of the graph inputs of a piece: `codes` `[blocks, blockSize]` and `scales` `[blocks]`. */
export function pieceBlocks({ start, end }: Piece, format: QuantizedFormat, width: number): number {
  return (end - start) * packedSizes(format, width).blocks;
}

/**
 * Dequantises the matrix anew for each product, which takes a hundredth of the product's time at 8 bits, and frees it
 * after. The dequantising nodes depend on the other operand. So ONNX Runtime neither runs them early nor merges those
 * of the backward pass with those of the forward pass and keeps their result.
 */
export class BlockMatrix implements FrozenMatrix {
  private readonly pieces: readonly Piece[];
  private readonly width: number;

  constructor(
    private readonly graph: GraphBuilder,
    name: string,
    shape: readonly number[],
    private readonly format: QuantizedFormat,
    maxNumbers?: number,
  ) {
    this.pieces = piecesOf(name, shape, maxNumbers);
    this.width = shape[1] ?? 0;
  }

  product(x: string, bias?: string): string {
    const [only, ...others] = this.pieces;
    if (only !== undefined && others.length === 0) {
      return linearProduct(this.graph, x, this.numbers(only, [x]), bias);
    }
    const products = this.pieces.map((piece) => linearProduct(this.graph, x, this.numbers(piece, [x])));
    const joined = join(this.graph, products, 1);
    return bias === undefined ? joined : this.graph.node('Add', [joined, bias]);
  }

  backProduct(gradient: string, sum?: string): string {
    const heights = this.pieces.map(({ start, end }) => end - start);
    const parts = cut(this.graph, gradient, heights, 1);
    let result = sum;
    for (const [index, piece] of this.pieces.entries()) {
      const part = parts[index] ?? gradient;
      const others = result === undefined ? [] : [result];
      result = this.graph.node('Gemm', [part, this.numbers(piece, [part, ...others]), ...others]);
    }
    return result ?? gradient;
  }

  summand(x: string): string {
    return join(
      this.graph,
      this.pieces.map((piece) => this.numbers(piece, [x])),
      0,
    );
  }

  /** `[rows, width]` as float32. @param after matrices that must be computed first. */
  private numbers(piece: Piece, after: readonly string[]): string {
    const { graph, format, width } = this;
    const { bits, blockSize } = blockFormats[format];
    const count = pieceBlocks(piece, format, width);
    const codes = graph.input(piece.codes, bits === 8 ? 'int8' : 'int4', [count, blockSize]);
    const scales = graph.node('Reshape', [graph.input(piece.scales, 'float32', [count]), this.sameSize(after)]);
    // ONNX Runtime's own operator, because the standard one has 4 bits only from operator set 21 on.
    const numbers = graph.microsoftNode('DequantizeLinear', [codes, scales], { axis: { int: 0 } });
    const { blocks } = packedSizes(format, width);
    const lines = graph.node('Reshape', [numbers, graph.integers([piece.end - piece.start, blocks * blockSize])]);
    if (blocks * blockSize === width) return lines;
    return graph.node('Slice', [lines, graph.integers([0]), graph.integers([width]), graph.integers([1])]);
  }

  /** The shape `[0]`, with which `Reshape` leaves a vector unchanged. It is computed after the given matrices. */
  private sameSize(after: readonly string[]): string {
    const { graph } = this;
    const heights = after.map((name) => graph.node('Shape', [name], { start: { int: 0 }, end: { int: 1 } }));
    return heights.reduce((zero, height) => graph.node('Mul', [zero, height]), graph.integers([0]));
  }
}
