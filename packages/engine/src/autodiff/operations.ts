/**
 * Differentiable operations. In the comments `d y` is the gradient of the loss with respect to y. Matrices
 * `[rows, width]` have one row for each token.
 */
import type { Dimension } from '../onnx/graphBuilder.js';
import type { Tape, Value } from './tape.js';

/** The inverse of a permutation of axes. */
function invert(permutation: readonly number[]): number[] {
  return permutation.map((_, axis) => permutation.indexOf(axis));
}

/** Adds two values of the same shape. */
export function add(tape: Tape, a: Value, b: Value): Value {
  return tape.record(tape.graph.node('Add', [a.name, b.name]), [a, b], (gradient) => {
    tape.accumulate(a, () => gradient);
    tape.accumulate(b, () => gradient);
  });
}

export interface Shape {
  /** An int64 vector. */
  readonly vector: string;
  /** Its numbers, as far as they are known, or names of those that are equal wherever they have one name. */
  readonly sizes: readonly Dimension[];
}

/** The second shape is that of `x`. */
export function reshape(tape: Tape, x: Value, shape: Shape, originalShape: Shape): Value {
  const { graph } = tape;
  const reshaped = (value: string, { vector, sizes }: Shape): string =>
    graph.shaped(graph.node('Reshape', [value, vector]), 'float32', sizes);
  return tape.record(reshaped(x.name, shape), [x], (gradient) => {
    tape.accumulate(x, () => reshaped(gradient, originalShape));
  });
}

export function transpose(tape: Tape, x: Value, permutation: readonly number[]): Value {
  const permute = (value: string, axes: readonly number[]) =>
    tape.graph.node('Transpose', [value], { perm: { ints: axes } });
  return tape.record(permute(x.name, permutation), [x], (gradient) => {
    tape.accumulate(x, () => permute(gradient, invert(permutation)));
  });
}

/** The rows of the matrix `x` at `indices` (int64 `[N]`). */
export function gatherRows(tape: Tape, x: Value, indices: string): Value {
  const { graph } = tape;
  return tape.record(graph.node('Gather', [x.name, indices], { axis: { int: 0 } }), [x], (gradient) => {
    tape.accumulate(x, () => {
      const zeros = graph.node('ConstantOfShape', [graph.node('Shape', [x.name])]);
      const columns = graph.node('Unsqueeze', [indices, graph.integers([1])]);
      return graph.node('ScatterND', [zeros, columns, gradient], { reduction: { string: 'add' } });
    });
  });
}

/** Root-mean-square normalisation over the last axis (Zhang and Sennrich 2019, arXiv:1910.07467); `scale` is frozen. */
export function rmsNorm(tape: Tape, x: Value, scale: string, epsilon: number): Value {
  const { graph } = tape;
  const normed = graph.freshName('normed');
  const inverse = graph.freshName('inverseRms');
  const attributes = { axis: { int: -1 }, epsilon: { float: epsilon }, stash_type: { int: 1 } };
  graph.nodeInto('SimplifiedLayerNormalization', [x.name, scale], attributes, [normed, inverse]);
  return tape.record(normed, [x], (gradient) => {
    // With i = 1/rms and g = d y * scale:  d x = i g - x i³ mean(g x).
    tape.accumulate(x, () => {
      const scaled = graph.node('Mul', [gradient, scale]);
      const products = graph.node('Mul', [scaled, x.name]);
      const mean = graph.node('ReduceMean', [products], { axes: { ints: [-1] }, keepdims: { int: 1 } });
      const cube = graph.node('Mul', [inverse, graph.node('Mul', [inverse, inverse])]);
      const coefficient = graph.node('Mul', [mean, cube]);
      const direct = graph.node('Mul', [scaled, inverse]);
      return graph.node('Sub', [direct, graph.node('Mul', [x.name, coefficient])]);
    });
  });
}

/**
 * `silu(gate) * up` (Shazeer 2020, https://arxiv.org/abs/2002.05202). These matrices are the widest of a layer, and a
 * pass over them costs as much as the memory traffic. So silu is not kept, and the product takes its place.
 */
export function swiGlu(tape: Tape, gate: Value, up: Value): Value {
  const { graph } = tape;
  const multiply = (a: string, b: string) => graph.node('Mul', [a, b]);
  const sigmoid = graph.node('Sigmoid', [gate.name]);
  const product = multiply(multiply(gate.name, sigmoid), up.name);
  return tape.record(product, [gate, up], (gradient) => {
    // With s the sigmoid, y the product and g = d y:  d up = g s gate;  d gate = g s (up - y) + g y.
    const scaled = multiply(gradient, sigmoid);
    tape.accumulate(up, () => multiply(scaled, gate.name));
    tape.accumulate(gate, () => {
      const slope = multiply(scaled, graph.node('Sub', [up.name, product]));
      return graph.node('Add', [slope, multiply(gradient, product)]);
    });
  });
}

/** The rotation of each position. `negativeSin` turns back. */
export interface Rotation {
  /** int64 `[B, T]` */
  readonly positions: string;
  /** Tables `[length, headDim / 2]`. */
  readonly cos: string;
  readonly sin: string;
  readonly negativeSin: string;
}

/** Rotary position embedding of `x` `[B, heads, T, headDim]`. Its gradient is rotated back. */
export function rotate(tape: Tape, x: Value, rotation: Rotation): Value {
  const turn = (value: string, sin: string) =>
    tape.graph.microsoftNode('RotaryEmbedding', [value, rotation.positions, rotation.cos, sin]);
  return tape.record(turn(x.name, rotation.sin), [x], (gradient) => {
    tape.accumulate(x, () => turn(gradient, rotation.negativeSin));
  });
}

/** Run-time shapes of grouped attention, see `attention`. */
export interface AttentionShapes {
  /** `[B, kvHeads, group * T, T]` */
  readonly grouped: string;
  /** `[B, kvHeads, group, T, T]` */
  readonly perHead: string;
  /**
   * Added to the scores before the softmax, `[T, T]` or `[B, 1, 1, T, T]`: 0 where a query may look, very negative
   * elsewhere.
   */
  readonly mask: string;
}

/**
 * Scaled dot-product attention in which `group` query heads share a key head.
 * @param query `[B, kvHeads, group * T, headDim]`
 * @param key, value `[B, kvHeads, T, headDim]`
 * @returns `[B, kvHeads, group * T, headDim]`
 */
export function attention(
  tape: Tape,
  operands: { query: Value; key: Value; value: Value },
  headDim: number,
  shapes: AttentionShapes,
): Value {
  const { graph } = tape;
  const { query, key, value } = operands;
  const scaled = { alpha: { float: 1 / Math.sqrt(headDim) } };
  const product = (a: string, b: string, attributes = {}) => graph.microsoftNode('FusedMatMul', [a, b], attributes);

  const scores = product(query.name, key.name, { transB: { int: 1 }, ...scaled });
  const masked = graph.node('Add', [graph.node('Reshape', [scores, shapes.perHead]), shapes.mask]);
  const softmax = graph.node('Softmax', [masked], { axis: { int: -1 } });
  const weights = graph.node('Reshape', [softmax, shapes.grouped]);

  const mixed = product(weights, value.name);
  return tape.record(mixed, [query, key, value], (gradient) => {
    tape.accumulate(value, () => product(weights, gradient, { transA: { int: 1 } }));
    if (!query.requiresGradient && !key.requiresGradient) return;
    // d scores = P * (d P - rowsum(d P * P)), and rowsum(d P * P) = rowsum(d y * y), which is narrower.
    const outputs = graph.node('Mul', [gradient, mixed]);
    const rowSums = graph.node('ReduceSum', [outputs, graph.integers([-1])], { keepdims: { int: 1 } });
    const weightGradient = product(gradient, value.name, { transB: { int: 1 } });
    const scoreGradient = graph.node('Mul', [graph.node('Sub', [weightGradient, rowSums]), weights]);
    tape.accumulate(query, () => product(scoreGradient, key.name, scaled));
    tape.accumulate(key, () => product(scoreGradient, query.name, { transA: { int: 1 }, ...scaled }));
  });
}
