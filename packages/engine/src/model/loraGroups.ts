/** Projections of the same input. Serving computes their low-rank terms as one product. */
import type { DecoderConfig } from './config.js';
import { headProjections, projectionName, projectionShape, type Projection } from './weights.js';

/**
 * The A matrices stand below each other and the B matrices as blocks on a diagonal, with zeros elsewhere. Zeros add
 * nothing, and starting a product takes a small model longer than computing it.
 */
export interface LoraGroup {
  /**
   * For instance `model.layers.3.self_attn.q_proj+k_proj+v_proj`. Graph inputs have `.lora_A` or `.lora_B` appended.
   */
  readonly name: string;
  readonly width: number;
  readonly parts: readonly LoraPart[];
}

export interface LoraPart {
  /** See `projectionName`. */
  readonly name: string;
  readonly out: number;
}

export function loraGroup(config: DecoderConfig, layer: number, projections: readonly Projection[]): LoraGroup {
  const parts = projections.map((projection) => {
    const [out, width] = projectionShape(config, projection);
    return { name: projectionName(layer, projection), out, width };
  });
  const [first] = parts;
  if (first === undefined) throw new RangeError('a group has at least one projection');
  const others = projections.slice(1).map((projection) => `+${projection}`);
  return { name: first.name + others.join(''), width: first.width, parts };
}

/** All groups of a model in the order of its layers. */
export function loraGroups(config: DecoderConfig): readonly LoraGroup[] {
  const ofLayer = [headProjections, ['o_proj'], ['gate_proj'], ['up_proj'], ['down_proj']] as const;
  return Array.from({ length: config.layers }, (_, layer) =>
    ofLayer.map((projections) => loraGroup(config, layer, projections)),
  ).flat();
}
