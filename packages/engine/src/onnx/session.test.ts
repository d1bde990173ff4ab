import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { temporaryFolder } from '../testing/fixtures.js';
import { GraphBuilder } from './graphBuilder.js';
import { KeptTensors } from './nativeTensors.js';
import { Session, type SessionOptions } from './session.js';
import { Tensor } from './tensor.js';

/** Makes a session and runs it, as everything of the engine does. */
const SCRIPT = `
  const { Tensor } = await import('./tensor.js');
  const { GraphBuilder } = await import('./graphBuilder.js');
  const { Session } = await import('./session.js');
  const graph = new GraphBuilder();
  graph.input('x', 'float32', [1, 1]);
  graph.output('y', graph.node('MatMul', ['x', 'x']), 'float32', [1, 1]);
  const session = await Session.create(graph.encode(), { threads: 1 });
  const [x, y] = [Float32Array.of(1), new Float32Array(1)].map((data) => new Tensor(data, [1, 1]));
  await session.run([{ x }], [{ y }]);
  session.release();
`;

test('ONNX Runtime reports nothing to anybody', async (t) => {
  const folder = await temporaryFolder(t);
  // Its uploader leaves a session of its own, a log and an identifier of the machine where it runs.
  const env = { PATH: process.env['PATH'] ?? '', TMPDIR: folder, HOME: folder, XDG_CACHE_HOME: folder };
  const options = { cwd: import.meta.dirname, env };
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', SCRIPT], options);
  assert.deepEqual(await readdir(folder), []);
});

function vector(...values: number[]): Tensor {
  return new Tensor(Float32Array.from(values), [values.length]);
}

/** Of `x` and `y`: `sum` and `product`. */
async function sumAndProduct(): Promise<Session> {
  const graph = new GraphBuilder();
  for (const name of ['x', 'y']) graph.input(name, 'float32', ['N']);
  graph.output('sum', graph.node('Add', ['x', 'y']), 'float32', ['N']);
  graph.output('product', graph.node('Mul', ['x', 'y']), 'float32', ['N']);
  return Session.create(graph.encode(), { threads: 1 });
}

test('results are written where the caller wants them, and only those that are asked for', async () => {
  const session = await sumAndProduct();
  assert.deepEqual(session.inputNames, ['x', 'y']);
  const [sum, product] = [vector(0, 0), vector(0, 0)];
  await session.run([{ x: vector(2, 3) }, { y: vector(4, 5), other: vector(1) }], [{ sum }, { product }]);
  assert.deepEqual(sum.data, Float32Array.of(6, 8));
  assert.deepEqual(product.data, Float32Array.of(8, 15));
  await session.run([{ x: product, y: product }], [{ sum }]);
  assert.deepEqual(sum.data, Float32Array.of(16, 30));
  assert.deepEqual(product.data, Float32Array.of(8, 15));
  session.release();
});

test('a result may be written over an input', async () => {
  const session = await sumAndProduct();
  const x = vector(2, 3);
  await session.run([{ x, y: vector(4, 5) }], [{ sum: x }]);
  assert.deepEqual(x.data, Float32Array.of(6, 8));
  session.release();
});

test('a run that fails says why', async () => {
  const session = await sumAndProduct();
  const results = { sum: vector(0, 0) };
  const both = { x: vector(2, 3), y: vector(4, 5) };
  await assert.rejects(session.run([{ x: vector(2, 3), y: vector(4, 5, 6) }], [results]), /broadcast/);
  await assert.rejects(session.run([{ x: vector(2, 3) }], [results]), /y/);
  await assert.rejects(session.run([both], [{ sum: vector(0, 0, 0) }]), /shape/i);
  await assert.rejects(session.run([both], [{ difference: vector(0, 0) }]), /difference/);
  const integers = new Tensor(BigInt64Array.of(1n, 2n), [2]);
  await assert.rejects(session.run([{ ...both, x: integers }], [results]), /x.*int64|int64.*x|type/i);
  session.release();
  await assert.rejects(session.run([both], [results]), /released/);
});

test('a graph that cannot be one is refused', async () => {
  await assert.rejects(Session.create(Uint8Array.of(1, 2, 3), { threads: 1 }), /protobuf|parse/i);
});

test('a tensor has as many numbers as its dimensions say', () => {
  assert.throws(() => new Tensor(new Float32Array(5), [2, 3]), /5 numbers are not \[2, 3\]/);
  assert.deepEqual(new Tensor(new Float32Array(1), []).dims, []);
});

test('constants are read out of files, or out of memory', async (t) => {
  const numbers = Float32Array.from({ length: 300 }, (_, index) => index / 7);
  const bytes = new Uint8Array(numbers.buffer);
  const folder = await temporaryFolder(t);
  await writeFile(path.join(folder, 'a b.ü'), bytes);
  for (const constants of [{ folder }, new Map([['a b.ü', bytes]])] satisfies SessionOptions['constants'][]) {
    const graph = new GraphBuilder();
    graph.input('x', 'float32', [300]);
    const constant = graph.externalConstant('a b.ü', 'float32', [300]);
    graph.output('y', graph.node('Add', ['x', constant]), 'float32', [300]);
    const session = await Session.create(graph.encode(), { threads: 1, constants });
    const y = new Tensor(new Float32Array(300), [300]);
    await session.run([{ x: new Tensor(new Float32Array(300), [300]) }], [{ y }]);
    assert.deepEqual(y.data, numbers);
    session.release();
  }
});

test('tensors that nobody holds but a run, or that are kept, stay in memory', async () => {
  const session = await sumAndProduct();
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const size = 100_000;
  const filled = (value: number): Tensor => new Tensor(new Float32Array(size).fill(value), [size]);
  const kept = Array.from({ length: 5 }, (_, index) => new KeptTensors({ x: filled(index) }));
  for (const [index, x] of kept.entries()) {
    const sum = new Float32Array(size);
    const running = session.run([x, { y: filled(10) }], [{ sum: new Tensor(sum, [size]) }]);
    collectGarbage();
    await running;
    assert.ok(sum.every((value) => value === 10 + index));
  }
  session.release();
});
