// Counting the work of a LoRA step, and measuring the machine's own speed at matrix products to hold it against.
//
// FLOP of a step over R rows (tokens with padding), S of them supervised, in sequences of T tokens:
//   frozen weights   4 W R + 4 V d S   forward and input gradient of the layers' matrices (W numbers) and of the head
//   LoRA             6 P R             forward, gradient of the matrix, gradient of its input (P numbers)
//   attention        12 T H h L R      scores and mixing: two products forward, four backward
//   less             2 R (Wqkv + Aqkv) of the first layer, whose input is the frozen embedding and needs no gradient,
//                    and R - S rows of o, gate, up and down in the last layer, which only supervised rows pass
// Elementwise work is not counted, so the share can only be understated.
import { loraTensorSpecs, projectionShape, projectionKinds } from '../../packages/engine/dist/model/weights.js';
import { GraphBuilder } from '../../packages/engine/dist/onnx/graphBuilder.js';
import { Session } from '../../packages/engine/dist/onnx/session.js';
import { Tensor } from '../../packages/engine/dist/onnx/tensor.js';
import { createRandom } from '../../packages/engine/dist/support/random.js';

export const gemmRows = 1024;
const gemmChain = 8;

/** FLOP of a run of `gemm`. */
export function gemmFlop(width) {
  return 2 * gemmRows * width * width * gemmChain;
}

/** A step over `batch` sequences of `length` tokens, every token but the first a target. */
export function stepFlop(config, { batch, length, rank }) {
  const rows = batch * length;
  const supervised = batch * (length - 1);
  const size = (projection) => projectionShape(config, projection).reduce((a, b) => a * b);
  const frozen = config.layers * projectionKinds.reduce((sum, projection) => sum + size(projection), 0);
  const lora = loraTensorSpecs(config, rank).reduce((sum, { shape: [a, b] }) => sum + a * b, 0);
  const attention = 12 * length * config.heads * config.headDim * config.layers;
  const first = ['q_proj', 'k_proj', 'v_proj'].reduce((sum, name) => sum + size(name) + rank * config.hiddenSize, 0);
  const last = ['o_proj', 'gate_proj', 'up_proj', 'down_proj'].reduce((sum, name) => {
    const [out, width] = projectionShape(config, name);
    return sum + 4 * out * width + 6 * rank * (out + width);
  }, 0);
  const head = 4 * config.vocabularySize * config.hiddenSize * supervised;
  return rows * (4 * frozen + 6 * lora + attention - 2 * first) - (rows - supervised) * last + head;
}

/**
 * A chain of products [1024, width] x [width, width], the weight in the `[out, in]` layout of the checkpoints, to be
 * run.
 */
export async function gemm(width, threads) {
  const graph = new GraphBuilder();
  let value = graph.input('x', 'float32', [gemmRows, width]);
  graph.input('weight', 'float32', [width, width]);
  for (let index = 0; index < gemmChain; index += 1)
    value = graph.node('Gemm', [value, 'weight'], { transB: { int: 1 } });
  graph.output('y', value, 'float32', [gemmRows, width]);
  const session = await Session.create(graph.encode(), { threads });
  const random = createRandom(width);
  const tensor = (rows, scale) =>
    new Tensor(
      Float32Array.from({ length: rows * width }, () => (random.next() - 0.5) * scale),
      [rows, width],
    );
  const feeds = { x: tensor(gemmRows, 1), weight: tensor(width, 2 * Math.sqrt(3 / width)) };
  const y = tensor(gemmRows, 0);
  return () => session.run([feeds], [{ y }]);
}
