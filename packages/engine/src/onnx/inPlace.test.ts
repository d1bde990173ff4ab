import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tensor } from 'onnxruntime-node';
import { GraphBuilder } from './graphBuilder.js';
import { computeInPlace, runInPlace } from './inPlace.js';
import { createSession } from './session.js';

function vector(...values: number[]): Tensor {
  return new Tensor('float32', Float32Array.from(values), [values.length]);
}

async function additions(): Promise<Awaited<ReturnType<typeof createSession>>> {
  const graph = new GraphBuilder();
  computeInPlace(graph);
  for (const name of ['x', 'y']) graph.input(name, 'float32', ['N']);
  graph.output('sum', graph.node('Add', ['x', 'y']), 'float32', ['N']);
  graph.output('product', graph.node('Mul', ['x', 'y']), 'float32', ['N']);
  return createSession(graph.encode(), { threads: 1 });
}

test('all results are written where the caller wants them', async () => {
  const session = await additions();
  const results = { sum: vector(0, 0), product: vector(0, 0) };
  await runInPlace(session, { x: vector(2, 3), y: vector(4, 5) }, results);
  assert.deepEqual(results.sum.data, Float32Array.of(6, 8));
  assert.deepEqual(results.product.data, Float32Array.of(8, 15));
  await session.release();
});

test('a run that fails says so', async () => {
  const session = await additions();
  const feeds = { x: vector(2, 3), y: vector(4, 5, 6) };
  await assert.rejects(runInPlace(session, feeds, { sum: vector(0, 0), product: vector(0, 0) }), /broadcast/);
  await assert.rejects(runInPlace(session, { x: vector(2, 3) }, { sum: vector(0, 0) }), /y/);
  await session.release();
});
