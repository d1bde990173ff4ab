/** Compares a matrix in integer codes with the float32 matrix that it was made of. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FloatMatrix, linear, type FrozenMatrix } from '../autodiff/linear.js';
import { add } from '../autodiff/operations.js';
import { Tape } from '../autodiff/tape.js';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import { Session } from '../onnx/session.js';
import { Tensor } from '../onnx/tensor.js';
import { relativeError, randomNumbers } from '../testing/fixtures.js';
import { withoutIntegers } from '../testing/integerProcessor.js';
import type { Feeds } from './inputs.js';
import { integerFeeds, integerNames } from './integerCodes.js';
import { IntegerMatrix, RowCodes } from './integerMatrix.js';

const [rows, width, out] = [5, 96, 70];
const shape = [out, width] as const;

interface Operands {
  readonly matrix: Float32Array;
  readonly x: Float32Array;
  readonly gradient: Float32Array;
}

/** The sum of two products with W, one with a bias, and the gradient of x through both. */
async function compute({ x, gradient }: Operands, feeds: Feeds, matrixIn: (graph: GraphBuilder) => FrozenMatrix) {
  const graph = new GraphBuilder();
  const tape = new Tape(graph);
  graph.input('bias', 'float32', [out]);
  graph.input('gradient', 'float32', ['rows', out]);
  const input = tape.parameter(graph.input('x', 'float32', ['rows', width]));
  const matrix = matrixIn(graph);
  const sum = add(tape, linear(tape, input, matrix, 'bias'), linear(tape, input, matrix));
  tape.backward(sum, 'gradient');
  graph.output('sum', sum.name, 'float32', ['rows', out]);
  graph.output('gradient_of_x', tape.gradient(input), 'float32', ['rows', width]);
  const [product, back] = [new Float32Array(rows * out), new Float32Array(rows * width)];
  const given = {
    x: new Tensor(x, [rows, width]),
    bias: new Tensor(randomNumbers(out, 3), [out]),
    gradient: new Tensor(gradient, [rows, out]),
  };
  const session = await Session.create(graph.encode(), { threads: 1 });
  const results = { sum: new Tensor(product, [rows, out]), gradient_of_x: new Tensor(back, [rows, width]) };
  await session.run([feeds, given], [results]);
  session.release();
  return { product, back };
}

async function both(operands: Operands) {
  const inIntegers = await compute(
    operands,
    integerFeeds('w', operands.matrix, shape),
    (graph) => new IntegerMatrix(graph, new RowCodes(graph), 'w', shape),
  );
  const inFloats = await compute(operands, { w: new Tensor(operands.matrix, shape) }, (graph) => {
    const read = (): string => graph.input('w', 'float32', shape);
    return new FloatMatrix(graph, read, read);
  });
  return { inIntegers, inFloats };
}

const plain: Operands = {
  matrix: randomNumbers(out * width, 1),
  x: randomNumbers(rows * width, 2),
  gradient: randomNumbers(rows * out, 4),
};

/** Where one number in sixteen is a hundred times as large as the others, as models have it. */
function withOutliers(numbers: Float32Array): Float32Array {
  return numbers.map((value, index) => (index % 16 === 3 ? 100 * value : value));
}

for (const [what, operands] of [
  ['even numbers', plain],
  ['outliers among the inputs', { ...plain, x: withOutliers(plain.x) }],
  ['outliers in the matrix', { ...plain, matrix: withOutliers(plain.matrix) }],
  ['tiny numbers', { ...plain, x: plain.x.map((value) => value * 1e-6) }],
] as const) {
  test(
    `${what}: products are off by one ten-thousandth, gradients by two hundredths at most`,
    {
      skip: withoutIntegers,
    },
    async () => {
      const { inIntegers, inFloats } = await both(operands);
      const [product, back] = [
        relativeError(inIntegers.product, inFloats.product),
        relativeError(inIntegers.back, inFloats.back),
      ];
      assert.ok(product <= 1e-4, `product: ${product}`);
      assert.ok(back <= 2e-2, `gradient: ${back}`);
    },
  );
}

test('a row and a matrix of zeros give zeros', { skip: withoutIntegers }, async () => {
  const x = plain.x.slice().fill(0, width, 2 * width);
  const gradient = plain.gradient.slice().fill(0, out, 2 * out);
  const { inIntegers } = await both({ ...plain, x, gradient });
  const bias = randomNumbers(out, 3);
  assert.deepEqual(inIntegers.product.slice(out, 2 * out), bias);
  assert.deepEqual(inIntegers.back.slice(width, 2 * width), new Float32Array(width));
  const zero = await both({ ...plain, matrix: new Float32Array(out * width) });
  assert.deepEqual(zero.inIntegers, zero.inFloats);
});

test('two codes of a number say it to the 60,000th part of the greatest of its row', () => {
  const { matrix } = plain;
  const feeds = integerFeeds('w', matrix, shape);
  const names = integerNames('w');
  const [codes, scales] = [feeds[names.both]!.data, feeds[names.scales]!.data];
  for (let row = 0; row < out; row += 1) {
    const line = matrix.subarray(row * width, (row + 1) * width);
    const greatest = Math.max(...line.map(Math.abs));
    for (const [column, value] of line.entries()) {
      const [first, second] = [codes[column * out + row], codes[(width + column) * out + row]];
      const read = (Number(first) + Number(second) / 254) * Number(scales[row]);
      assert.ok(Math.abs(read - value) <= greatest / 60_000, `${row}, ${column}: ${read} for ${value}`);
    }
  }
});

test('threads share the memory of all codes', () => {
  for (const { data } of Object.values(integerFeeds('w', plain.matrix, shape))) {
    assert.ok(data.buffer instanceof SharedArrayBuffer);
  }
});
