/** Products with a frozen matrix in 8-bit integers, which some processors compute ten times as fast as float32. */
import type { FrozenMatrix } from '../autodiff/linear.js';
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import { integerNames, maxCode, secondShare } from './integerCodes.js';

/** ONNX Runtime's fast products take unsigned codes on the left, so 128 stands for 0 there. */
const zeroCode = 128;
/** The scales of first and second codes of numbers from -1 to 1. */
const firstScale = 1 / maxCode;
const secondScale = firstScale * secondShare;
/** Keeps a row of zeros from being divided by 0, and changes no other. */
const leastMagnitude = 1e-30;

/** Rows as codes of numbers from -1 to 1, times the magnitude of each row. */
interface CodedRows {
  /** float32 `[rows, width]`: from -1 to 1. */
  readonly shares: string;
  /** uint8 `[rows, width]`, counted from `zeroCode`. */
  readonly codes: string;
  /** float32 `[rows, 1]` */
  readonly magnitudes: string;
}

/** The codes of the left operands of a graph's products. Several products may have one operand. */
export class RowCodes {
  private readonly once = new Map<string, CodedRows>();
  private readonly twice = new Map<string, string>();

  constructor(private readonly graph: GraphBuilder) {}

  /** One code for each number. */
  coded(x: string): CodedRows {
    const known = this.once.get(x);
    if (known !== undefined) return known;
    const { graph } = this;
    const attributes = { axes: { ints: [-1] }, keepdims: { int: 1 } };
    const greatest = graph.node('ReduceMax', [graph.node('Abs', [x])], attributes);
    const magnitudes = graph.node('Add', [greatest, graph.float(leastMagnitude)]);
    const shares = graph.node('Div', [x, magnitudes]);
    const rows = { shares, codes: this.quantized(shares, firstScale), magnitudes };
    this.once.set(x, rows);
    return rows;
  }

  /** uint8 `[rows, 2 * width]`: second codes for what the first ones leave, then the first ones. */
  secondAndFirst(x: string): string {
    const known = this.twice.get(x);
    if (known !== undefined) return known;
    const { graph } = this;
    const { shares, codes } = this.coded(x);
    const rounded = graph.node('DequantizeLinear', [codes, graph.float(firstScale), graph.byte(zeroCode)]);
    const second = this.quantized(graph.node('Sub', [shares, rounded]), secondScale);
    const joined = graph.node('Concat', [second, codes], { axis: { int: 1 } });
    this.twice.set(x, joined);
    return joined;
  }

  private quantized(x: string, scale: number): string {
    const { graph } = this;
    return graph.node('QuantizeLinear', [x, graph.float(scale), graph.byte(zeroCode)]);
  }
}

/**
 * A matrix W `[out, width]` in the codes of `integerFeeds`.
 *
 * Forward, each number of either operand has two codes, f and s, so that it is f + s / 254 in units of its scale. A
 * product is `f f + (f s + s f) / 254`; what is left out is too small to matter beside float32's own rounding of sums.
 * Backward, each has one: the gradient of x is off by a few percent, as with bfloat16, while those of A and B are
 * float32 products.
 */
export class IntegerMatrix implements FrozenMatrix {
  readonly summand = null;

  constructor(
    private readonly graph: GraphBuilder,
    private readonly rows: RowCodes,
    private readonly name: string,
    private readonly shape: readonly [out: number, width: number],
  ) {}

  product(x: string, bias?: string): string {
    const { graph, rows } = this;
    const [out, width] = this.shape;
    const names = integerNames(this.name);
    const first = graph.input(names.first, 'int8', [width, out]);
    const both = graph.input(names.both, 'int8', [2 * width, out]);
    const scales = graph.input(names.scales, 'float32', [out]);
    const { codes, magnitudes } = rows.coded(x);
    const ofFirst = this.integerProduct(codes, first, firstScale, scales);
    const ofSecond = this.integerProduct(rows.secondAndFirst(x), both, secondScale, scales);
    const product = graph.node('Mul', [graph.node('Add', [ofFirst, ofSecond]), magnitudes]);
    return bias === undefined ? product : graph.node('Add', [product, bias]);
  }

  backProduct(gradient: string, sum?: string): string {
    const { graph, rows } = this;
    const [, width] = this.shape;
    const names = integerNames(this.name);
    const back = graph.input(names.back, 'int8', this.shape);
    const scales = graph.input(names.backScales, 'float32', [width]);
    const { codes, magnitudes } = rows.coded(gradient);
    const product = graph.node('Mul', [this.integerProduct(codes, back, firstScale, scales), magnitudes]);
    return sum === undefined ? product : graph.node('Add', [product, sum]);
  }

  /** float32 `[rows, columns]`: the product of the codes, times the scale of the rows and that of each column. */
  private integerProduct(codes: string, matrix: string, scale: number, columnScales: string): string {
    const { graph } = this;
    const inputs = [codes, matrix, graph.float(scale), columnScales, graph.byte(zeroCode)];
    return graph.microsoftNode('MatMulIntegerToFloat', inputs);
  }
}
