/** Which linear maps an adapter changes, of what rank and how strongly: PEFT's rules for its `adapter_config.json`. */
import { brief } from '../checkpoint/brief.js';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { projectionName, PROJECTIONS, type LoraModule } from '../model/weights.js';
import { CONFIG_FILE } from './contentHash.js';

export interface LoraHyperparameters {
  /** 1 to `MAX_RANK`. */
  readonly rank: number;
  /** Positive; the low-rank term is multiplied by alpha / rank. */
  readonly alpha: number;
  /** Names of modules, or the ends of such names after a dot; absent for all seven projections. */
  readonly targets?: readonly string[];
  /** Layers that targets apply to, except targets that are the whole name of a module; absent for all. */
  readonly layers?: readonly number[];
  /** Ranks that differ, by a pattern that the end of the module's name matches; the first such pattern counts. */
  readonly rankPattern?: ReadonlyMap<string, number>;
  /** Alphas that differ, as `rankPattern`. */
  readonly alphaPattern?: ReadonlyMap<string, number>;
  /** Multiply by alpha / √rank instead (Kalajdzievski 2023, https://arxiv.org/abs/2312.03732). */
  readonly rsLora?: boolean;
}

/**
 * The modules in the order of the model.
 * @throws EngineError `adapter_invalid` naming the field that asks for a module which the model does not have.
 */
export function loraModules(config: DecoderConfig, lora: LoraHyperparameters): readonly LoraModule[] {
  const all = Array.from({ length: config.layers }, (_, layer) =>
    PROJECTIONS.map((projection) => ({ layer, projection, name: projectionName(layer, projection) })),
  ).flat();
  for (const target of lora.targets ?? []) {
    if (!all.some(({ name }) => endsWith(name, target))) {
      throw refused('target_modules', `names ${brief(target)}, which is no projection of this model`);
    }
  }
  for (const layer of lora.layers ?? []) {
    if (layer >= config.layers) throw refused('layers_to_transform', `names layer ${layer} of ${config.layers}`);
  }
  const [rankOf, scaleOf] = [ranks(lora), scales(lora)];
  const modules = all
    .filter(({ name, layer }) => isAdapted(lora, name, layer))
    .map(({ layer, projection, name }) => ({ layer, projection, rank: rankOf(name), scale: scaleOf(name) }));
  if (modules.length === 0) throw refused('target_modules', 'names nothing in the layers of layers_to_transform');
  return modules;
}

/** By a module's name: what its low-rank term is multiplied by. */
export function scales(lora: LoraHyperparameters): (name: string) => number {
  const [rankOf, alphaOf] = [ranks(lora), matcher(lora.alphaPattern, lora.alpha)];
  return (name) => alphaOf(name) / (lora.rsLora === true ? Math.sqrt(rankOf(name)) : rankOf(name));
}

/** The characters that a pattern may have; others could make a regular expression that takes for ever. */
export function isPattern(text: string): boolean {
  return /^\^?(?:\w|\\?\.)+$/.test(text);
}

function ranks(lora: LoraHyperparameters): (name: string) => number {
  return matcher(lora.rankPattern, lora.rank);
}

function isAdapted({ targets, layers }: LoraHyperparameters, name: string, layer: number): boolean {
  const inLayer = layers === undefined || layers.includes(layer);
  if (targets === undefined) return inLayer;
  return targets.includes(name) || (inLayer && targets.some((target) => endsWith(name, target)));
}

function endsWith(name: string, target: string): boolean {
  return name === target || name.endsWith(`.${target}`);
}

/** Compiles the patterns once: there may be thousands, for each of hundreds of modules. */
function matcher(patterns: ReadonlyMap<string, number> | undefined, otherwise: number): (name: string) => number {
  const compiled = Array.from(patterns ?? [], ([pattern, value]) => {
    return { expression: new RegExp(`^(?:.*\\.)?(?:${pattern})$`), value };
  });
  return (name) => compiled.find(({ expression }) => expression.test(name))?.value ?? otherwise;
}

function refused(field: string, reason: string): EngineError {
  return new EngineError('adapter_invalid', `${CONFIG_FILE}: ${field} ${reason}.`);
}
