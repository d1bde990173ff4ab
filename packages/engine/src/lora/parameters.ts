/** The trained numbers of an adapter: one flat array with a view for each matrix. */
import type { LoraAdapter } from '../adapters/loraAdapter.js';
import { loraModules, type LoraHyperparameters } from '../adapters/loraModules.js';
import type { FloatTensor } from '../checkpoint/safetensors.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import {
  loraTensorSpecs,
  moduleBytes,
  moduleTensorSpecs,
  type LoraModule,
  type LoraTensorSpec,
} from '../model/weights.js';
import { Tensor } from '../onnx/tensor.js';
import { createRandom } from '../support/random.js';
import { sum } from '../support/numbers.js';

/** All matrices of an adapter, or all their gradients, one after the other. */
export class FlatMatrices {
  /** Every number in the order of `specs`. The views in `matrices` refer to it. */
  readonly values: Float32Array;
  readonly matrices: ReadonlyMap<string, FloatTensor>;

  constructor(readonly specs: readonly LoraTensorSpec[]) {
    const sizes = specs.map(({ shape: [rows, width] }) => rows * width);
    this.values = new Float32Array(sum(sizes));
    const matrices = new Map<string, FloatTensor>();
    let offset = 0;
    for (const [index, { name, shape }] of specs.entries()) {
      const end = offset + (sizes[index] ?? 0);
      matrices.set(name, { shape, data: this.values.subarray(offset, end) });
      offset = end;
    }
    this.matrices = matrices;
  }
}

/** Tensors over the memory of the matrices, under other names. */
export function tensorsOver(flat: FlatMatrices, rename: (name: string) => string): Feeds {
  const feeds: Record<string, Tensor> = {};
  for (const [name, { shape, data }] of flat.matrices) feeds[rename(name)] = new Tensor(data, shape);
  return feeds;
}

/**
 * A fresh adapter as PEFT initialises it. A is Kaiming-uniform with slope √5, that is uniform within ± 1/√in. B is
 * zero, so that the adapted model begins as the base model.
 */
export function freshMatrices(config: DecoderConfig, rank: number, seed: number, firstLayer = 0): FlatMatrices {
  const flat = new FlatMatrices(loraTensorSpecs(config, rank, firstLayer));
  const random = createRandom(seed);
  for (const { name, matrix, shape } of flat.specs) {
    if (matrix === 'B') continue;
    const bound = 1 / Math.sqrt(shape[1]);
    const { data = new Float32Array() } = flat.matrices.get(name) ?? {};
    for (let index = 0; index < data.length; index += 1) data[index] = (2 * random.next() - 1) * bound;
  }
  return flat;
}

export function copyMatrices(config: DecoderConfig, adapter: LoraAdapter): FlatMatrices {
  const flat = new FlatMatrices(moduleTensorSpecs(config, loraModules(config, adapter)));
  for (const [name, { data }] of flat.matrices) data.set(adapter.matrices.get(name)?.data ?? []);
  return flat;
}

/** Bytes that a training holds of an adapter: its matrices, their gradients and the two moments. */
export function trainedBytes(config: DecoderConfig): (modules: readonly LoraModule[]) => number {
  return (modules) => 4 * moduleBytes(config, modules);
}

export function toAdapter(flat: FlatMatrices, hyperparameters: LoraHyperparameters): LoraAdapter {
  return { ...hyperparameters, matrices: flat.matrices };
}
