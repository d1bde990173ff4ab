import type { Architecture, DecoderConfig } from '../model/config.js';
import type { JsonFields } from './jsonFields.js';

/** The values that `transformers` uses when these fields are absent. */
const defaultWindow = 4096;
const defaultWindowLayers = 28;

/**
 * The attention window of each layer, as `transformers` 5 applies it. Mistral's applies to every layer. Qwen's, once
 * `use_sliding_window` is true, applies to the layers that `layer_types` names, or else to those from
 * `max_window_layers` on. Llama has none. Windows that no sequence outgrows are left out.
 */
export function readLayerWindows(
  fields: JsonFields,
  architecture: Architecture,
  { layers, contextLength }: Pick<DecoderConfig, 'layers' | 'contextLength'>,
): Pick<DecoderConfig, 'layerWindows'> {
  const window = readWindow(fields, architecture);
  const types = readLayerTypes(fields, layers);
  if (window === null && types?.includes('sliding_attention') === true) {
    throw fields.refusal('layer_types', 'of full_attention only where no sliding_window is in use');
  }
  if (architecture === 'mistral' && window !== null && types?.includes('full_attention') === true) {
    throw fields.refusal('layer_types', 'absent, because a Mistral slides in every layer');
  }
  if (window === null || window >= contextLength) return {};
  const first = architecture === 'mistral' ? 0 : windowLayers(fields);
  const slides = (layer: number) => (types === undefined ? layer >= first : types[layer] === 'sliding_attention');
  return { layerWindows: Array.from({ length: layers }, (_, layer) => (slides(layer) ? window : null)) };
}

function readWindow(fields: JsonFields, architecture: Architecture): number | null {
  if (architecture === 'llama') return null;
  if (architecture !== 'mistral' && !fields.boolean('use_sliding_window', false)) return null;
  // Here, unlike elsewhere, null is not the same as absent: it means that there is no window.
  return fields.raw['sliding_window'] === null ? null : fields.integer('sliding_window', defaultWindow);
}

function windowLayers(fields: JsonFields): number {
  return fields.integer('max_window_layers', defaultWindowLayers, { min: 0 });
}

function readLayerTypes(fields: JsonFields, layers: number): readonly string[] | undefined {
  if (!fields.has('layer_types')) return undefined;
  const types = fields.strings('layer_types');
  if (types.length !== layers || types.some((type) => type !== 'full_attention' && type !== 'sliding_attention')) {
    throw fields.refusal('layer_types', `${layers} times full_attention or sliding_attention`);
  }
  return types;
}
