import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loraModules } from '../adapters/loraModules.js';
import { buildBatch } from '../lora/batch.js';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import { Session } from '../onnx/session.js';
import { Tensor } from '../onnx/tensor.js';
import { randomWeights, tinyConfig } from '../testing/fixtures.js';
import { weightFeeds } from './inputs.js';
import { buildTrainingGraph } from './trainingGraph.js';
import { moduleTensorSpecs } from './weights.js';

void test('only supervised rows pass through the last feed-forward block and the head, both ways', async (t) => {
  const run = buildBatch(
    [
      { sequence: { tokens: [3, 1, 4, 1, 5, 9, 2, 6], targetStart: 6 }, weight: 1 },
      { sequence: { tokens: [2, 7, 1, 8, 2], targetStart: 4 }, weight: 2 },
    ],
    tinyConfig,
  ).parts[0]![0]!;
  const [tokens, targets] = [run.rows * run.length, 2 + 1];
  assert.ok(tokens >= 13);

  // Only the first layer is adapted. So the gradient passes through all layers, and other products have no LoRA term.
  const modules = loraModules(tinyConfig, { rank: 2, alpha: 2, targets: ['q_proj'], layers: [0] });
  const { mock } = t.mock.method(GraphBuilder.prototype, 'node');
  buildTrainingGraph(tinyConfig, { modules, gradients: true, packed: run.packed });
  const { calls } = mock;
  const graph = calls[0]?.this;
  assert.ok(graph instanceof GraphBuilder);
  const rows: Record<string, number> = {
    'model.layers.0.mlp.down_proj.weight': tokens,
    'model.layers.1.self_attn.v_proj.weight': tokens,
    'model.layers.1.self_attn.o_proj.weight': targets,
    'model.layers.1.mlp.gate_proj.weight': targets,
    'model.layers.1.mlp.up_proj.weight': targets,
    'model.layers.1.mlp.down_proj.weight': targets,
    'lm_head.weight': targets,
  };
  // The operands of the products with these matrices, forward and then backward, become outputs.
  const products = calls.flatMap(({ arguments: [, [x = '', matrix = '']] }) => (matrix in rows ? [{ x, matrix }] : []));
  assert.equal(products.length, 2 * Object.keys(rows).length);
  for (const x of new Set(products.map((product) => product.x)))
    graph.output(`shape of ${x}`, graph.node('Shape', [x]), 'int64', [2]);

  const feeds: Record<string, Tensor> = { ...weightFeeds(tinyConfig, randomWeights(tinyConfig, 1)), ...run.feeds };
  for (const { name, shape } of moduleTensorSpecs(tinyConfig, modules)) {
    feeds[name] = new Tensor(new Float32Array(shape[0] * shape[1]), shape);
  }
  const session = await Session.create(graph.encode(), { threads: 1 });
  const outputs = Object.fromEntries(
    products.map(({ x }) => [`shape of ${x}`, new Tensor(new BigInt64Array(2), [2])] as const),
  );
  await session.run([feeds], [outputs]);
  session.release();
  for (const { x, matrix } of products) assert.equal(Number(outputs[`shape of ${x}`]!.data[0]), rows[matrix], matrix);
});
