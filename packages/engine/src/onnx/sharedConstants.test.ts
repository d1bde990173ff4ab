import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../support/random.js';
import { GraphBuilder } from './graphBuilder.js';
import { Session } from './session.js';
import { SharedConstants } from './sharedConstants.js';
import { Tensor } from './tensor.js';

const random = createRandom(1);

function matrix(rows: number, columns: number): Tensor {
  return new Tensor(
    Float32Array.from({ length: rows * columns }, () => random.next() - 0.5),
    [rows, columns],
  );
}

/** Builds a model that computes `y`, the product of `x` `[2, size]` with the constant or with its transpose. */
function product(size: number, transB: 0 | 1): { readonly model: Buffer; readonly names: readonly string[] } {
  const graph = new GraphBuilder();
  const x = graph.input('x', 'float32', [2, size]);
  const constant = graph.externalConstant('matrix', 'float32', [size, size]);
  graph.output('y', graph.node('Gemm', [x, constant], { transB: { int: transB } }), 'float32', [2, size]);
  return { model: graph.encode(), names: graph.externalConstants };
}

async function computed(session: Session, x: Tensor): Promise<Float32Array> {
  const y = new Float32Array(x.data.length);
  await session.run([{ x }], [{ y: new Tensor(y, x.dims) }]);
  return y;
}

test('sessions with the same constants have the products that each has with its own', async () => {
  const size = 48;
  const [x, constant] = [matrix(2, size), matrix(size, size)];
  const shared = SharedConstants.create({ other: matrix(3, 3), matrix: constant });
  const elsewhere = SharedConstants.ofThread(shared.container, { matrix: constant });
  for (const transB of [0, 1] as const) {
    const { model, names } = product(size, transB);
    const bytes = new Uint8Array(constant.data.buffer);
    const sessions = [
      await Session.create(model, { threads: 1, constants: new Map([['matrix', bytes]]) }),
      await Session.create(model, { threads: 1, constants: { constants: shared, names } }),
      await Session.create(model, { threads: 2, constants: { constants: elsewhere, names } }),
    ];
    const [own, first, second] = await Promise.all(sessions.map((session) => computed(session, x)));
    assert.ok(own!.some((value) => value !== 0));
    assert.deepEqual(first, own);
    assert.deepEqual(second, own);
    for (const session of sessions) session.release();
  }
  shared.release();
});

test('what is arranged of shared constants is in memory once', async () => {
  const size = 4096;
  const bytes = size * size * Float32Array.BYTES_PER_ELEMENT;
  const shared = SharedConstants.create({ matrix: matrix(size, size) });
  const { model, names } = product(size, 1);
  const sessions: Session[] = [];
  const taken: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    const before = process.memoryUsage.rss();
    sessions.push(await Session.create(model, { threads: 1, constants: { constants: shared, names } }));
    taken.push(process.memoryUsage.rss() - before);
  }
  assert.ok(taken[0]! > bytes / 2, `${taken.join()}: the first takes the memory of a copy, ${bytes} bytes`);
  for (const others of taken.slice(1)) assert.ok(others < bytes / 2, `${taken.join()}: the others take none`);
  const before = process.memoryUsage.rss();
  for (const session of sessions) session.release();
  shared.release();
  assert.ok(before - process.memoryUsage.rss() > bytes / 2, 'released, it is free again');
});

test('constants that no kernel wants arranged are read where they are, for as long as there is a session', async () => {
  const graph = new GraphBuilder();
  const x = graph.input('x', 'float32', [2, 2]);
  const sum = graph.node('Add', [x, graph.externalConstant('matrix', 'float32', [2, 2])]);
  graph.output('y', sum, 'float32', [2, 2]);
  const constant = matrix(2, 2);
  const shared = SharedConstants.create({ matrix: constant });
  const names = graph.externalConstants;
  const session = await Session.create(graph.encode(), { threads: 1, constants: { constants: shared, names } });
  const zeros = new Tensor(new Float32Array(4), [2, 2]);
  assert.deepEqual(await computed(session, zeros), constant.data);
  constant.data[3] = 7;
  assert.deepEqual(await computed(session, zeros), constant.data);
  session.release();
  shared.release();
});

test('a constant that is not among the shared ones is named, and one of another shape is refused', async () => {
  const { model, names } = product(48, 0);
  const without = SharedConstants.create({ matrices: matrix(48, 48) });
  await assert.rejects(Session.create(model, { threads: 1, constants: { constants: without, names } }), {
    message: 'there is no constant matrix',
  });
  without.release();
  const narrow = SharedConstants.create({ matrix: matrix(48, 47) });
  await assert.rejects(
    Session.create(model, { threads: 1, constants: { constants: narrow, names } }),
    /shape|dims|match/i,
  );
  narrow.release();
});
