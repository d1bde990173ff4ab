/** Projections of the same input, whose low-rank terms serving computes as one product. */
import type { DecoderConfig } from './config.js';
import { HEAD_PROJECTIONS, projectionName, projectionShape, type Projection } from './weights.js';

/**
 * Their A matrices stand below each other, their B matrices as blocks on a diagonal, zeros elsewhere: zeros add
 * nothing, and starting a product takes a small model longer than computing it.
 */
export interface LoraGroup {
  /** `model.layers.3.self_attn.q_proj+k_proj+v_proj`; what a graph is fed has `.lora_A` or `.lora_B` behind it. */
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

/** All of a model, in the order of its layers. */
export function loraGroups(config: DecoderConfig): readonly LoraGroup[] {
  const ofLayer = [HEAD_PROJECTIONS, ['o_proj'], ['gate_proj'], ['up_proj'], ['down_proj']] as const;
  return Array.from({ length: config.layers }, (_, layer) =>
    ofLayer.map((projections) => loraGroup(config, layer, projections)),
  ).flat();
}
