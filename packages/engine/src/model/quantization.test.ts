import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import { Session } from '../onnx/session.js';
import { Tensor } from '../onnx/tensor.js';
import { rowsAreIndependent } from '../inference/rowIndependence.js';
import { dequantize } from '../testing/dequantize.js';
import { randomNumbers, tinyConfig } from '../testing/fixtures.js';
import { sum } from '../support/numbers.js';
import type { DecoderConfig } from './config.js';
import { decoderWeightShapes } from './weights.js';
import { ServingWeights, constantName } from './servingWeights.js';
import { blockFormats, quantize, type QuantizedFormat } from './quantization.js';

/** Makes a random `down_proj` for a model of this shape, and a graph that multiplies rows `x` with it. */
async function product(format: QuantizedFormat, config: DecoderConfig) {
  const weight = 'model.layers.0.mlp.down_proj.weight';
  const [out = 0, width = 0] = decoderWeightShapes(config).get(weight)!;
  const matrix = quantize(format, randomNumbers(out * width, 1), width);
  const graph = new GraphBuilder();
  graph.input('x', 'float32', ['rows', width]);
  graph.output('y', new ServingWeights(graph, config, format).product('x', [weight]), 'float32', ['rows', out]);
  const constants = new Map([
    [constantName(weight, 'quantized'), matrix.quantized],
    [constantName(weight, 'scales'), new Uint8Array(matrix.scales.buffer)],
  ]);
  return { matrix, out, width, session: await Session.create(graph.encode(), { threads: 1, constants }) };
}

async function multiply(session: Session, x: Float32Array, [rows, width, out]: readonly [number, number, number]) {
  const y = new Float32Array(rows * out);
  await session.run([{ x: new Tensor(x, [rows, width]) }], [{ y: new Tensor(y, [rows, out]) }]);
  return y;
}

/** A row of this width ends within a block. */
const width = 100;

for (const format of ['q8', 'q4'] as const) {
  const { bits, blockSize } = blockFormats[format];

  test(`${format}: every number comes back within a step of its block, and the greatest exactly`, () => {
    // The scales of smaller numbers would lose digits.
    const number = fc.float({ noNaN: true, min: -1000, max: 1000 }).map((x) => (Math.abs(x) < 1e-30 ? 0 : x));
    const numbers = fc.array(number, { minLength: 2 * width, maxLength: 2 * width });
    fc.assert(
      fc.property(numbers, (list) => {
        const data = Float32Array.from(list);
        const matrix = quantize(format, data, width);
        dequantize(format, matrix, 2, width).forEach((line, row) => {
          for (let start = 0; start < width; start += blockSize) {
            const block = [...data.subarray(row * width + start, row * width + Math.min(start + blockSize, width))];
            const peak = Math.max(...block.map(Math.abs));
            // Rounding is off by half a step, or by up to a whole step at the end of the range where a step is missing.
            const step = peak / 2 ** (bits - 1);
            block.forEach((value, index) => {
              const error = Math.abs(line[start + index]! - value);
              assert.ok(error <= step * (1 + 1e-6), `${value} became ${line[start + index]}`);
              if (value !== -peak && Math.abs(value) < peak - step) assert.ok(error <= (step / 2) * (1 + 1e-5));
            });
            const greatest = block.find((value) => Math.abs(value) === peak)!;
            assert.ok(Math.abs(line[start + block.indexOf(greatest)]! - greatest) <= peak * 1e-6);
          }
        });
      }),
    );
  });

  test(`${format}: ONNX Runtime multiplies with the numbers that the reference reads`, async () => {
    const { matrix, out, width, session } = await product(format, tinyConfig);
    const x = randomNumbers(3 * width, 2);
    const y = await multiply(session, x, [3, width, out]);
    const lines = dequantize(format, matrix, out, width);
    for (let row = 0; row < 3; row += 1) {
      lines.forEach((line, column) => {
        const expected = sum(line.map((value, index) => value * x[row * width + index]!));
        // Rounding the other operand to 8 bits shifts each product by at most 1 / 254 of its greatest number.
        const bound = sum(line.map(Math.abs)) * (0.5 / 254) * 1.01;
        const actual = y[row * out + column]!;
        assert.ok(Math.abs(actual - expected) <= bound, `${actual} for ${expected}`);
      });
    }
    session.release();
  });

  test(`${format}: a row has the same product in any company`, { skip: !rowsAreIndependent(format) }, async () => {
    const { out, width, session } = await product(format, { ...tinyConfig, ffnSize: 3 * blockSize + 8 });
    const x = randomNumbers(8 * width, 2);
    const all = await multiply(session, x, [8, width, out]);
    for (let first = 0; first < 8; first += 1) {
      for (let end = first + 1; end <= 8; end += 1) {
        const some = await multiply(session, x.slice(first * width, end * width), [end - first, width, out]);
        assert.deepEqual(some, all.slice(first * out, end * out), `rows ${first} to ${end}`);
      }
    }
    session.release();
  });
}
