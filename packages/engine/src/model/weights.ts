/** Names and shapes of a decoder's weights and of its LoRA matrices, as Hugging Face and PEFT write them. */
import { elementCount, sum } from '../support/numbers.js';
import { sharedFloats } from '../support/threadMemory.js';
import type { DecoderConfig } from './config.js';

export interface WeightTensor {
  readonly shape: readonly number[];
  /** Row-major. */
  readonly data: Float32Array;
}

/** Weights by their Hugging Face name, such as `model.layers.0.self_attn.q_proj.weight`. */
export type DecoderWeights = ReadonlyMap<string, WeightTensor>;

/** Weights that are read when needed. */
export interface WeightReader {
  /**
   * Reads tensors by name as float32, each into its place, which has its length.
   * @throws EngineError `checkpoint_invalid` when the source has changed or cannot be read.
   */
  read(places: ReadonlyMap<string, Float32Array>): Promise<void>;
  /** Yields the numbers of one tensor in order, as float32. Each block is valid until the next is asked for. */
  blocks(name: string): AsyncIterable<Float32Array>;
}

/** The linear maps of one layer. Each has a LoRA pair if there is an adapter. */
export const projectionKinds = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;
export type Projection = (typeof projectionKinds)[number];

/** Projections of the same input. Serving computes them as one product. */
export const headProjections = ['q_proj', 'k_proj', 'v_proj'] as const;
export const gatedProjections = ['gate_proj', 'up_proj'] as const;

export const embeddingName = 'model.embed_tokens.weight';
export const finalNormName = 'model.norm.weight';

export function headName(config: DecoderConfig): string {
  return config.tieWordEmbeddings ? embeddingName : 'lm_head.weight';
}

/** `model.layers.3.self_attn.q_proj` */
export function projectionName(layer: number, projection: Projection): string {
  const block = ['gate_proj', 'up_proj', 'down_proj'].includes(projection) ? 'mlp' : 'self_attn';
  return `model.layers.${layer}.${block}.${projection}`;
}

/** `[out, in]` of a projection. */
export function projectionShape(config: DecoderConfig, projection: Projection): readonly [number, number] {
  const { hiddenSize, ffnSize } = config;
  const queryWidth = config.heads * config.headDim;
  const keyWidth = config.kvHeads * config.headDim;
  switch (projection) {
    case 'q_proj':
      return [queryWidth, hiddenSize];
    case 'k_proj':
    case 'v_proj':
      return [keyWidth, hiddenSize];
    case 'o_proj':
      return [hiddenSize, queryWidth];
    case 'gate_proj':
    case 'up_proj':
      return [ffnSize, hiddenSize];
    case 'down_proj':
      return [hiddenSize, ffnSize];
  }
}

export function hasBias(config: DecoderConfig, projection: Projection): boolean {
  return config.attentionBias && ['q_proj', 'k_proj', 'v_proj'].includes(projection);
}

/** Every weight that the decoder reads, with its shape. */
export function decoderWeightShapes(config: DecoderConfig): ReadonlyMap<string, readonly number[]> {
  const { hiddenSize, vocabularySize } = config;
  const shapes = new Map<string, readonly number[]>([[embeddingName, [vocabularySize, hiddenSize]]]);
  for (let layer = 0; layer < config.layers; layer += 1) {
    const prefix = `model.layers.${layer}`;
    shapes.set(`${prefix}.input_layernorm.weight`, [hiddenSize]);
    shapes.set(`${prefix}.post_attention_layernorm.weight`, [hiddenSize]);
    if (config.qkNorm) {
      shapes.set(`${prefix}.self_attn.q_norm.weight`, [config.headDim]);
      shapes.set(`${prefix}.self_attn.k_norm.weight`, [config.headDim]);
    }
    for (const projection of projectionKinds) {
      const name = projectionName(layer, projection);
      const shape = projectionShape(config, projection);
      shapes.set(`${name}.weight`, shape);
      if (hasBias(config, projection)) shapes.set(`${name}.bias`, [shape[0]]);
    }
  }
  shapes.set(finalNormName, [hiddenSize]);
  shapes.set(headName(config), [vocabularySize, hiddenSize]);
  return shapes;
}

/** The number of all weights. */
export function weightCount(config: DecoderConfig): number {
  return sum([...decoderWeightShapes(config).values()].map(elementCount));
}

/** The number of weights in the projections of one layer. */
export function projectionWeightCount(config: DecoderConfig): number {
  return sum(projectionKinds.map((projection) => elementCount(projectionShape(config, projection))));
}

/** The size of all weights as float32. */
export function weightBytes(config: DecoderConfig): number {
  return weightCount(config) * Float32Array.BYTES_PER_ELEMENT;
}

/**
 * Reads weights into memory that a training helper can share.
 * @param shapes of the wanted weights.
 * @param known weights that are there already and are not read.
 */
export async function readWeights(
  reader: WeightReader,
  shapes: ReadonlyMap<string, readonly number[]>,
  known: DecoderWeights = new Map(),
): Promise<DecoderWeights> {
  const places = new Map<string, Float32Array>();
  const weights = new Map<string, WeightTensor>();
  for (const [name, shape] of shapes) {
    const tensor = known.get(name);
    if (tensor === undefined) places.set(name, sharedFloats(elementCount(shape)));
    weights.set(name, tensor ?? { shape, data: places.get(name) ?? new Float32Array() });
  }
  await reader.read(places);
  return weights;
}

/** The name of a projection's LoRA matrix as a graph input. */
export function loraName(layer: number, projection: Projection, matrix: 'A' | 'B'): string {
  return matrixName(projectionName(layer, projection), matrix);
}

/** The same of a projection by its name (`projectionName`). */
export function matrixName(projection: string, matrix: 'A' | 'B'): string {
  return `${projection}.lora_${matrix}`;
}

/** One LoRA matrix: `A` is `[rank, in]`, `B` is `[out, rank]`. */
export interface LoraTensorSpec {
  /** See `loraName`. */
  readonly name: string;
  readonly matrix: 'A' | 'B';
  readonly shape: readonly [number, number];
}

/** A projection that an adapter changes. */
export interface LoraModule {
  readonly layer: number;
  readonly projection: Projection;
  readonly rank: number;
  /** Multiplies the low-rank term. */
  readonly scale: number;
}

/** The LoRA matrices of the modules, in their order. */
export function moduleTensorSpecs(
  config: DecoderConfig,
  modules: readonly Omit<LoraModule, 'scale'>[],
): readonly LoraTensorSpec[] {
  return modules.flatMap(({ layer, projection, rank }) => {
    const [out, width] = projectionShape(config, projection);
    return [
      { name: loraName(layer, projection, 'A'), matrix: 'A', shape: [rank, width] } as const,
      { name: loraName(layer, projection, 'B'), matrix: 'B', shape: [out, rank] } as const,
    ];
  });
}

/** The size of the modules' matrices as float32. */
export function moduleBytes(config: DecoderConfig, modules: readonly Omit<LoraModule, 'scale'>[]): number {
  const counts = moduleTensorSpecs(config, modules).map(({ shape }) => elementCount(shape));
  return sum(counts) * Float32Array.BYTES_PER_ELEMENT;
}

/** The LoRA matrices of every projection of the layers from `firstLayer` on, all of one rank, in a fixed order. */
export function loraTensorSpecs(config: DecoderConfig, rank: number, firstLayer = 0): readonly LoraTensorSpec[] {
  const layers = Array.from({ length: config.layers - firstLayer }, (_, index) => firstLayer + index);
  const modules = layers.flatMap((layer) => projectionKinds.map((projection) => ({ layer, projection, rank })));
  return moduleTensorSpecs(config, modules);
}
