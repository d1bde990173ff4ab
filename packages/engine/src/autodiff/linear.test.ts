/** Adding a low-rank term to its matrix gives the same numbers as adding it to the products with that matrix. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import { Session } from '../onnx/session.js';
import { Tensor } from '../onnx/tensor.js';
import { createRandom } from '../support/random.js';
import { relativeError } from '../testing/fixtures.js';
import { elementCount } from '../support/numbers.js';
import { FloatMatrix, loraLinears, type AdaptedMatrix } from './linear.js';
import { swiGlu } from './operations.js';
import { Tape } from './tape.js';

const [rows, width, out] = [5, 48, 7];
/** The matrices of a gated unit have the same input. The first has a bias. */
const [gateRank, upRank] = [2, 3];
const inputShapes: Readonly<Record<string, readonly number[]>> = {
  x: [rows, width],
  bias: [out],
  gate: [out, width],
  'gate.a': [gateRank, width],
  'gate.b': [out, gateRank],
  up: [out, width],
  'up.a': [upRank, width],
  'up.b': [out, upRank],
  /** The gradient of the result. */
  gradient: [rows, out],
};
const trained = ['x', 'gate.a', 'gate.b', 'up.a', 'up.b'];

/** Computes the result of a gated unit, and the gradients of its input and of every A and B. */
async function compute(merged: boolean): Promise<ReadonlyMap<string, Float32Array>> {
  const graph = new GraphBuilder();
  const tape = new Tape(graph);
  for (const [name, shape] of Object.entries(inputShapes)) graph.input(name, 'float32', shape);
  const values = new Map(trained.map((name) => [name, tape.parameter(name)]));
  const matrix = (name: string, rank: number, scale: number, bias?: string): AdaptedMatrix => {
    const lora = { a: values.get(`${name}.a`)!, b: values.get(`${name}.b`)!, rank, scale };
    const read = (): string => name;
    return { weight: new FloatMatrix(graph, read, read), bias, lora, merged };
  };
  const matrices = [matrix('gate', gateRank, 1.5, 'bias'), matrix('up', upRank, 0.25)];
  const [gate, up] = loraLinears(tape, values.get('x')!, matrices);
  const result = swiGlu(tape, gate!, up!);
  tape.backward(result, 'gradient');
  graph.output('result', result.name, 'float32', [rows, out]);
  for (const [name, value] of values)
    graph.output(`gradient of ${name}`, tape.gradient(value), 'float32', inputShapes[name]!);
  const session = await Session.create(graph.encode(), { threads: 1 });
  const random = createRandom(1);
  const feeds = Object.entries(inputShapes).map(([name, shape]) => {
    const data = Float32Array.from({ length: elementCount(shape) }, () => random.next() - 0.5);
    return [name, new Tensor(data, shape)] as const;
  });
  const shapes = [
    ['result', [rows, out]] as const,
    ...[...values.keys()].map((name) => [`gradient of ${name}`, inputShapes[name]!] as const),
  ];
  const results = new Map(shapes.map(([name, shape]) => [name, new Float32Array(elementCount(shape))] as const));
  const tensors = shapes.map(([name, shape]) => [name, new Tensor(results.get(name)!, shape)] as const);
  await session.run([Object.fromEntries(feeds)], [Object.fromEntries(tensors)]);
  session.release();
  return results;
}

void test('a low-rank term in the matrix and one in the products give the same results and gradients', async () => {
  const [merged, apart] = [await compute(true), await compute(false)];
  assert.deepEqual([...apart.keys()].sort(), ['result', ...trained.map((name) => `gradient of ${name}`)].sort());
  for (const [name, expected] of merged) {
    const error = relativeError(apart.get(name)!, expected);
    assert.ok(error <= 1e-5, `${name}: relative error ${error}`);
  }
});
