/**
 * The decoder in plain loops over float64 numbers: slow, independent of ONNX and the graphs, and close to the papers'
 * formulas. Base weights only.
 */
import { layerWindow } from '../model/config.js';
import { inverseFrequencies, rotationScale } from '../model/ropeTables.js';
import { headName } from '../model/weights.js';
import type { TestModel } from './runs.js';

type Vector = number[];

/** Logits after every token. */
export function referenceLogits({ config, weights }: TestModel, tokens: readonly number[]): Vector[] {
  const weight = (name: string): Float32Array => {
    const tensor = weights.get(name);
    if (tensor === undefined) throw new Error(`no weight ${name}`);
    return tensor.data;
  };
  const { hiddenSize, headDim, heads, kvHeads, rmsNormEps: epsilon } = config;
  const frequencies = inverseFrequencies(config);
  const embedding = weight('model.embed_tokens.weight');
  let stream = tokens.map((token) => [...embedding.subarray(token * hiddenSize, (token + 1) * hiddenSize)]);

  for (let layer = 0; layer < config.layers; layer += 1) {
    const prefix = `model.layers.${layer}.`;
    const project = (x: Vector, name: string): Vector =>
      multiply(weight(`${prefix}${name}.weight`), x, weights.get(`${prefix}${name}.bias`)?.data);
    const splitHeads = (x: Vector, norm: string | null, position: number): Vector[] =>
      chunks(x, headDim).map((head) => {
        if (norm === null) return head;
        const normed = config.qkNorm ? rmsNorm(head, weight(`${prefix}self_attn.${norm}.weight`), epsilon) : head;
        return rotate(normed, position, frequencies).map((value) => value * rotationScale(config.ropeScaling));
      });
    const inputs = stream.map((x) => rmsNorm(x, weight(`${prefix}input_layernorm.weight`), epsilon));
    const queries = inputs.map((x, position) => splitHeads(project(x, 'self_attn.q_proj'), 'q_norm', position));
    const keys = inputs.map((x, position) => splitHeads(project(x, 'self_attn.k_proj'), 'k_norm', position));
    const values = inputs.map((x, position) => splitHeads(project(x, 'self_attn.v_proj'), null, position));
    const attended = queries.map((query, position) =>
      query.flatMap((head, index) => {
        const shared = Math.floor((index * kvHeads) / heads);
        const first = Math.max(0, position + 1 - (layerWindow(config, layer) ?? Infinity));
        const seen = (vectors: readonly Vector[][]) =>
          vectors.slice(first, position + 1).map((vector) => vector[shared] ?? []);
        return attend(head, seen(keys), seen(values));
      }),
    );
    stream = stream.map((x, position) => sum(x, project(attended[position] ?? [], 'self_attn.o_proj')));
    stream = stream.map((x) => {
      const normed = rmsNorm(x, weight(`${prefix}post_attention_layernorm.weight`), epsilon);
      const up = project(normed, 'mlp.up_proj');
      const activated = project(normed, 'mlp.gate_proj').map(
        (g, index) => (g / (1 + Math.exp(-g))) * (up[index] ?? NaN),
      );
      return sum(x, project(activated, 'mlp.down_proj'));
    });
  }
  const head = weight(headName(config));
  return stream.map((x) => multiply(head, rmsNorm(x, weight('model.norm.weight'), epsilon)));
}

/** `W x + bias` with row-major `W` `[out, in]`. */
function multiply(matrix: Float32Array, x: Vector, bias?: Float32Array): Vector {
  return Array.from({ length: matrix.length / x.length }, (_, row) =>
    x.reduce((total, value, column) => total + value * (matrix[row * x.length + column] ?? NaN), bias?.[row] ?? 0),
  );
}

function rmsNorm(x: Vector, scale: Float32Array, epsilon: number): Vector {
  const meanSquare = x.reduce((total, value) => total + value * value, 0) / x.length;
  return x.map((value, index) => (value / Math.sqrt(meanSquare + epsilon)) * (scale[index] ?? NaN));
}

/** Turns the pair (i, i + half) by position * frequency i. */
function rotate(x: Vector, position: number, frequencies: readonly number[]): Vector {
  const half = frequencies.length;
  return x.map((value, index) => {
    const angle = position * (frequencies[index % half] ?? NaN);
    const partner = index < half ? -(x[index + half] ?? NaN) : (x[index - half] ?? NaN);
    return value * Math.cos(angle) + partner * Math.sin(angle);
  });
}

function attend(query: Vector, keys: readonly Vector[], values: readonly Vector[]): Vector {
  const scores = keys.map((key) => dot(query, key) / Math.sqrt(query.length));
  const exponentials = scores.map((score) => Math.exp(score - Math.max(...scores)));
  const total = exponentials.reduce((a, b) => a + b, 0);
  return query.map((_, index) =>
    exponentials.reduce((mixed, weight, place) => mixed + (weight / total) * (values[place]?.[index] ?? NaN), 0),
  );
}

function dot(a: Vector, b: Vector): number {
  return a.reduce((total, value, index) => total + value * (b[index] ?? NaN), 0);
}

function sum(a: Vector, b: Vector): Vector {
  return a.map((value, index) => value + (b[index] ?? NaN));
}

function chunks(x: Vector, size: number): Vector[] {
  return Array.from({ length: x.length / size }, (_, index) => x.slice(index * size, (index + 1) * size));
}
