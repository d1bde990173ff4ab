import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tensor } from './tensor.js';
import { GraphBuilder } from './graphBuilder.js';
import { ProtobufWriter } from './protobuf.js';
import { Session } from './session.js';

void test('the wire format of integers, floats, strings and messages', () => {
  const inner = new ProtobufWriter().integer(1, 300);
  const bytes = new ProtobufWriter().integer(1, -1).float(2, 1.5).string(3, 'é').message(4, inner).finish();
  const negative = '08ffffffffffffffffff01';
  assert.equal(bytes.toString('hex'), `${negative}150000c03f1a02c3a9220308ac02`);
});

void test('a graph with every kind of attribute, constant and operator runs', async () => {
  const graph = new GraphBuilder();
  graph.input('x', 'float32', ['rows', 3]);
  const transposed = graph.node('Transpose', ['x'], { perm: { ints: [1, 0] } });
  const gram = graph.microsoftNode('FusedMatMul', ['x', transposed], { alpha: { float: 0.5 } });
  const rows = graph.node('Reshape', [gram, graph.integers([-1])]);
  graph.output('y', graph.node('Add', [rows, graph.float(1)]), 'float32', ['n']);
  graph.nodeInto('ArgMax', [gram], { axis: { int: -1 }, keepdims: { int: 0 } }, ['best']);
  graph.declareOutput('best', 'int64', ['rows']);
  const session = await Session.create(graph.encode(), { threads: 1 });
  const x = new Tensor(Float32Array.of(1, 0, 2, 0, 3, 0), [2, 3]);
  const y = new Tensor(new Float32Array(4), [4]);
  const best = new Tensor(new BigInt64Array(2), [2]);
  await session.run([{ x }], [{ y, best }]);
  assert.deepEqual(y.data, Float32Array.of(3.5, 1, 1, 5.5));
  assert.deepEqual(best.data, BigInt64Array.of(0n, 1n));
});

void test('equal constants and repeated inputs are stored once', () => {
  const graph = new GraphBuilder();
  assert.equal(graph.integers([1, 2]), graph.integers([1, 2]));
  assert.notEqual(graph.integer(1), graph.integers([1]));
  assert.notEqual(graph.float(1), graph.float(2));
  assert.equal(graph.input('x', 'float32', [1]), graph.input('x', 'float32', [1]));
});
