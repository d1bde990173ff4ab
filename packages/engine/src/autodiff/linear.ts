/** Linear maps with frozen matrices, alone or with a trained low-rank term. */
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import type { Tape, Value } from './tape.js';

/** A matrix W `[out, in]` that is not trained. */
export interface FrozenMatrix {
  /** Adds nodes for `x Wᵀ + bias`. */
  product(x: string, bias?: string): string;
  /** Adds nodes for `gradient W + sum`, the gradient of x. */
  backProduct(gradient: string, sum?: string): string;
  /** W itself, for adding to it before it is multiplied with x. `null` if products need it in another form. */
  readonly summand: ((x: string) => string) | null;
}

/** A float32 matrix. Each function gives its name and is called when the matrix is needed. */
export class FloatMatrix implements FrozenMatrix {
  constructor(
    private readonly graph: GraphBuilder,
    /** The matrix as a factor of products. */
    private readonly factor: () => string,
    /** The matrix as a summand. */
    readonly summand: () => string,
  ) {}

  product(x: string, bias?: string): string {
    return linearProduct(this.graph, x, this.factor(), bias);
  }

  backProduct(gradient: string, sum?: string): string {
    return this.graph.node('Gemm', sum === undefined ? [gradient, this.factor()] : [gradient, this.factor(), sum]);
  }
}

/** A pair of low-rank matrices in PEFT's layout: `a` `[rank, in]` and `b` `[out, rank]`. */
export interface LoraPair {
  readonly a: Value;
  readonly b: Value;
  /** alpha / rank, or 1 if `b` is scaled already. */
  readonly scale: number;
  /** Present if it is known when the graph is built. */
  readonly rank?: number;
}

/** A frozen matrix with a low-rank term. */
export interface AdaptedMatrix {
  readonly weight: FrozenMatrix;
  /** `[out]` */
  readonly bias: string | undefined;
  readonly lora: LoraPair & { readonly rank: number };
  /** Whether `W + scale B A` is computed first where `weight` allows it, see `loraLinears`. */
  readonly merged: boolean;
}

const transposedA = { transA: { int: 1 } } as const;
const transposedB = { transB: { int: 1 } } as const;

/** `x Wᵀ + bias` with frozen `weight` and `bias` `[out]`. */
export function linear(tape: Tape, x: Value, weight: FrozenMatrix, bias?: string): Value {
  return tape.record(weight.product(x.name, bias), [x], (gradient) => {
    tape.accumulateOnto(x, (sum) => weight.backProduct(gradient, sum));
  });
}

/** `x Wᵀ + bias + scale (x Aᵀ) Bᵀ` with a pair that is not trained and whose rank is known only at run time. */
export function fixedLoraLinear(
  tape: Tape,
  x: Value,
  weight: FrozenMatrix,
  bias: string | undefined,
  lora: LoraPair,
): Value {
  const { graph } = tape;
  const base = weight.product(x.name, bias);
  const low = graph.node('Gemm', [x.name, lora.a.name], transposedB);
  return tape.constant(graph.node('Gemm', [low, lora.b.name, base], { ...transposedB, alpha: { float: lora.scale } }));
}

/**
 * `x Wᵀ + bias + scale (x Aᵀ) Bᵀ` for several matrices and the same x (Hu et al. 2021,
 * https://arxiv.org/abs/2106.09685). Frozen weights need no gradients, so the backward pass costs about as much as the
 * forward pass.
 *
 * A product with one narrow side takes as long as reading and writing its wide sides. So the As are joined into one
 * matrix. With `merged` the low-rank term is added to W, which is less to write than the result when x has more rows
 * than columns.
 */
export function loraLinears(tape: Tape, x: Value, matrices: readonly AdaptedMatrix[]): readonly Value[] {
  const { graph } = tape;
  const a = once(() =>
    join(
      graph,
      matrices.map(({ lora }) => lora.a.name),
      0,
    ),
  );
  const ranks = matrices.map(({ lora }) => lora.rank);
  const lows = once(() => cut(graph, graph.node('Gemm', [x.name, a()], transposedB), ranks, 1));
  const results = matrices.map(({ weight, bias, lora, merged }, index) => {
    const scaled = { alpha: { float: lora.scale } };
    if (merged && weight.summand !== null) {
      const sum = graph.node('Gemm', [lora.b.name, lora.a.name, weight.summand(x.name)], scaled);
      return linearProduct(graph, x.name, sum, bias);
    }
    const base = weight.product(x.name, bias);
    return graph.node('Gemm', [lows()[index] ?? '', lora.b.name, base], { ...transposedB, ...scaled });
  });
  const operands = [x, ...matrices.flatMap(({ lora }) => [lora.a, lora.b])];
  return tape.recordAll(results, operands, (known) => {
    const gradients = known.map((gradient, index) => gradient ?? zeros(graph, results[index] ?? ''));
    const lowGradients = matrices.map(({ lora }, index) =>
      graph.node('Gemm', [gradients[index] ?? '', lora.b.name], { alpha: { float: lora.scale } }),
    );
    const lowGradient = join(graph, lowGradients, 1);
    const aGradients = cut(graph, graph.node('Gemm', [lowGradient, x.name], transposedA), ranks, 0);
    for (const [index, { weight, lora }] of matrices.entries()) {
      const gradient = gradients[index] ?? '';
      const scaled = { alpha: { float: lora.scale } };
      tape.accumulateProduct(lora.b, gradient, lows()[index] ?? '', { ...transposedA, ...scaled });
      tape.accumulate(lora.a, () => aGradients[index] ?? '');
      tape.accumulateOnto(x, (sum) => weight.backProduct(gradient, sum));
    }
    tape.accumulateProduct(x, lowGradient, a());
  });
}

/** Adds a node for `x Wᵀ + bias`. */
export function linearProduct(graph: GraphBuilder, x: string, weight: string, bias?: string): string {
  return graph.node('Gemm', bias === undefined ? [x, weight] : [x, weight, bias], transposedB);
}

function zeros(graph: GraphBuilder, like: string): string {
  return graph.node('ConstantOfShape', [graph.node('Shape', [like])]);
}

/** Joins several matrices into one. A single matrix stays as it is. */
export function join(graph: GraphBuilder, parts: readonly string[], axis: number): string {
  const [only, ...others] = parts;
  return only !== undefined && others.length === 0 ? only : graph.node('Concat', parts, { axis: { int: axis } });
}

/** The opposite of `join`. */
export function cut(graph: GraphBuilder, whole: string, sizes: readonly number[], axis: number): readonly string[] {
  if (sizes.length === 1) return [whole];
  const parts = sizes.map(() => graph.freshName('part'));
  graph.nodeInto('Split', [whole, graph.integers(sizes)], { axis: { int: axis } }, parts);
  return parts;
}

/** Adds its nodes to the graph on first use. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
