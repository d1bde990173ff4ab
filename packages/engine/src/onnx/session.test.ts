import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { temporaryFolder } from '../testing/fixtures.js';
import { GraphBuilder } from './graphBuilder.js';
import { RegisteredTensors } from './nativeTensors.js';
import { runtime } from './runtime.js';
import { Session, type SessionOptions } from './session.js';
import { SharedConstants } from './sharedConstants.js';
import { Tensor } from './tensor.js';

/** Creates a session and runs it, as every part of the engine does. */
const childScript = `
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

/** Registers a tensor before there is a session. */
const tensorsScript = `
  const { Tensor } = await import('./tensor.js');
  const { RegisteredTensors } = await import('./nativeTensors.js');
  new RegisteredTensors({ x: new Tensor(Float32Array.of(1), [1]) });
`;

for (const [what, script] of [
  ['a session', childScript],
  ['a tensor', tensorsScript],
] as const) {
  test(`ONNX Runtime reports nothing to anybody of ${what}`, async (t) => {
    const folder = await temporaryFolder(t);
    // The telemetry of ONNX Runtime would leave a log and an identifier of the machine in these folders.
    const env = { PATH: process.env['PATH'] ?? '', TMPDIR: folder, HOME: folder, XDG_CACHE_HOME: folder };
    const options = { cwd: import.meta.dirname, env };
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], options);
    assert.deepEqual(await readdir(folder), []);
  });
}

function vector(...values: number[]): Tensor {
  return new Tensor(Float32Array.from(values), [values.length]);
}

/** Creates a session that computes `sum` and `product` of `x` and `y`. */
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
  const sum = vector(0, 0);
  const both = { x: vector(2, 3), y: vector(4, 5) };
  await assert.rejects(session.run([{ x: vector(2, 3), y: vector(4, 5, 6) }], [{ sum }]), /broadcast/);
  await assert.rejects(session.run([{ x: vector(2, 3) }], [{ sum }]), /Missing Input: y/);
  await assert.rejects(session.run([both], [{ sum: vector(0, 0, 0) }]), /has shape \{3\}/);
  await assert.rejects(session.run([both], [{ difference: vector(0, 0) }]), /Invalid output name:\s*difference/);
  await assert.rejects(
    session.run([both, new RegisteredTensors({ z: vector(1) })], [{ sum }]),
    /Invalid input name:\s*z/,
  );
  const integers = new Tensor(BigInt64Array.of(1n, 2n), [2]);
  await assert.rejects(session.run([{ ...both, x: integers }], [{ sum }]), /Unexpected input data type.*int64/);
  await assert.rejects(session.run([both], [{ sum: integers }]), /int64/);
  assert.deepEqual(integers.data, BigInt64Array.of(1n, 2n));
  session.release();
  session.release();
  await assert.rejects(session.run([both], [{ sum }]), /released/);
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

const collectGarbage = exposedGarbageCollector();

function exposedGarbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** Collects garbage until `isDone`. Finalizers run in later turns of the event loop. */
async function collectAll(isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 20 && !isDone(); turn += 1) {
    collectGarbage();
    await setImmediate();
  }
}

type Counted =
  | 'createTensorWithDataAsOrtValue'
  | 'releaseValue'
  | 'createSessionOptions'
  | 'releaseSessionOptions'
  | 'releaseSession'
  | 'createPrepackedWeightsContainer'
  | 'releasePrepackedWeightsContainer';

/** Counts calls of ONNX Runtime's functions. A mock of the test runner would keep their arguments in memory. */
function counted(t: TestContext, ...names: readonly Counted[]): () => readonly number[] {
  const functions: Record<Counted, (...values: never[]) => unknown> = runtime();
  const counts = names.map((name) => {
    const original = functions[name];
    const count = { calls: 0 };
    functions[name] = (...values) => {
      count.calls += 1;
      return original(...values);
    };
    t.after(() => (functions[name] = original));
    return count;
  });
  return () => counts.map(({ calls }) => calls);
}

test('what is made for a run is released after it, whatever comes of it', async (t) => {
  const session = await sumAndProduct();
  const values = counted(t, 'createTensorWithDataAsOrtValue', 'releaseValue');
  await session.run([{ x: vector(2, 3), y: vector(4, 5), other: vector(1) }], [{ sum: vector(0, 0) }]);
  assert.deepEqual(values(), [3, 3], 'and what the graph does not know is not made');
  await assert.rejects(session.run([{ x: vector(2), y: vector(4) }], [{ sum: vector(0, 0) }]), /shape/);
  assert.deepEqual(values(), [6, 6]);
  const lost = vector(1, 2);
  structuredClone(lost.data, { transfer: [lost.data.buffer as ArrayBuffer] });
  await assert.rejects(session.run([{ x: vector(2, 3), y: lost }], [{ sum: vector(0, 0) }]), /space/);
  assert.deepEqual(values(), [8, 7], 'one could not be made');
  session.release();
});

test('settings are released, also where no session can be made with them', async (t) => {
  const settings = counted(t, 'createSessionOptions', 'releaseSessionOptions');
  (await sumAndProduct()).release();
  await assert.rejects(Session.create(Uint8Array.of(1, 2, 3), { threads: 1 }));
  await assert.rejects(Session.create(Uint8Array.of(), { threads: 1, constants: new Map([['a', new Uint8Array()]]) }));
  assert.deepEqual(settings(), [3, 3]);
});

test('kept tensors and sessions are released when nobody holds them any more', async (t) => {
  await collectAll(() => false);
  const calls = counted(t, 'createTensorWithDataAsOrtValue', 'releaseValue', 'releaseSession');
  await (async () => {
    const session = await sumAndProduct();
    for (let index = 0; index < 5; index += 1) {
      const x = new RegisteredTensors({ x: vector(index, 1) });
      const sum = vector(0, 0);
      await session.run([x, { y: vector(2, 3) }], [new RegisteredTensors({ sum })]);
      assert.deepEqual(sum.data, Float32Array.of(index + 2, 4));
    }
  })();
  const expected = [15, 15, 1];
  await collectAll(() => calls().join() === expected.join());
  assert.deepEqual(calls(), expected);
});

test('shared constants are released by who made them, or when nobody holds them any more', async (t) => {
  const calls = counted(t, 'createPrepackedWeightsContainer', 'releasePrepackedWeightsContainer');
  const tensors = { x: vector(1, 2) };
  (() => {
    const { container } = SharedConstants.create(tensors);
    // The view that another thread has.
    SharedConstants.ofThread(container, tensors);
  })();
  await collectAll(() => calls()[1] === 1);
  assert.deepEqual(calls(), [1, 1]);
  (() => {
    SharedConstants.create(tensors).release();
  })();
  await collectAll(() => false);
  assert.deepEqual(calls(), [2, 2]);
});

test('tensors stay in memory while a run that waits for its turn is to have them', async () => {
  const session = await sumAndProduct();
  const size = 100_000;
  const filled = (value: number): Tensor => new Tensor(new Float32Array(size).fill(value), [size]);
  for (let index = 0; index < 20; index += 1) {
    const sum = new Float32Array(size);
    const kept = (): RegisteredTensors => new RegisteredTensors({ x: filled(index) });
    const running = session.run([kept(), { y: filled(10) }], [{ sum: new Tensor(sum, [size]) }]);
    collectGarbage();
    await running;
    assert.ok(sum.every((value) => value === 10 + index));
  }
  session.release();
});
