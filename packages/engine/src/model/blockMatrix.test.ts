/** Compares a matrix in blocks with the float32 matrix of the same numbers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FloatMatrix, linear, type FrozenMatrix } from '../autodiff/linear.js';
import { add } from '../autodiff/operations.js';
import { Tape } from '../autodiff/tape.js';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import { Session } from '../onnx/session.js';
import { Tensor } from '../onnx/tensor.js';
import { dequantize } from '../testing/dequantize.js';
import { relativeError, randomNumbers } from '../testing/fixtures.js';
import { matrixFeeds } from './blockFeeds.js';
import { BlockMatrix } from './blockMatrix.js';
import type { Feeds } from './inputs.js';
import { quantize } from './quantization.js';

const [rows, out] = [3, 10];

/** Computes the sum of two products with W, the gradient of x through both, and W itself. */
async function compute(width: number, feeds: Feeds, matrixIn: (graph: GraphBuilder) => FrozenMatrix) {
  const graph = new GraphBuilder();
  const tape = new Tape(graph);
  graph.input('bias', 'float32', [out]);
  graph.input('gradient', 'float32', ['rows', out]);
  const x = tape.parameter(graph.input('x', 'float32', ['rows', width]));
  const matrix = matrixIn(graph);
  const sum = add(tape, linear(tape, x, matrix, 'bias'), linear(tape, x, matrix));
  tape.backward(sum, 'gradient');
  graph.output('sum', sum.name, 'float32', ['rows', out]);
  graph.output('gradient_of_x', tape.gradient(x), 'float32', ['rows', width]);
  graph.output('matrix', matrix.summand?.(x.name) ?? '', 'float32', [out, width]);
  const shapes = { sum: [rows, out], gradient_of_x: [rows, width], matrix: [out, width] } as const;
  const results = new Map(
    Object.entries(shapes).map(([name, [rows, columns]]) => [name, new Float32Array(rows * columns)]),
  );
  const tensors = Object.entries(shapes).map(([name, shape]) => [name, new Tensor(results.get(name)!, shape)]);
  const given = {
    x: new Tensor(randomNumbers(rows * width, 2), [rows, width]),
    bias: new Tensor(randomNumbers(out, 3), [out]),
    gradient: new Tensor(randomNumbers(rows * out, 4), [rows, out]),
  };
  const session = await Session.create(graph.encode(), { threads: 1 });
  await session.run([feeds, given], [Object.fromEntries(tensors) as Feeds]);
  session.release();
  return results;
}

for (const format of ['q8', 'q4'] as const) {
  for (const [what, width, pieceNumbers] of [
    ['of full blocks', 128, undefined],
    ['whose lines end within a block', 100, undefined],
    ['in pieces of three lines', 100, 399],
  ] as const) {
    test(`${format}: a matrix ${what} is multiplied with, and differentiated, as its numbers are`, async () => {
      const shape = [out, width] as const;
      const blocks = quantize(format, randomNumbers(out * width, 1), width);
      const numbers = Float32Array.from(dequantize(format, blocks, out, width).flat());
      const codes = blocks.quantized.slice();
      const feeds = matrixFeeds('w', shape, { format, codes, scales: blocks.scales }, pieceNumbers);
      assert.equal(Object.keys(feeds).length, pieceNumbers === undefined ? 2 : 8);
      const actual = await compute(width, feeds, (graph) => new BlockMatrix(graph, 'w', shape, format, pieceNumbers));
      const expected = await compute(width, { w: new Tensor(numbers, shape) }, (graph) => {
        const read = (): string => graph.input('w', 'float32', shape);
        return new FloatMatrix(graph, read, read);
      });
      for (const [name, data] of expected) {
        const error = relativeError(actual.get(name)!, data);
        assert.ok(error <= 1e-6, `${name}: relative error ${error}`);
      }
    });
  }
}
