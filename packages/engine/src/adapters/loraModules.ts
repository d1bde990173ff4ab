/** Which linear maps an adapter changes, of what rank and how strongly: PEFT's rules for its `adapter_config.json`. */
import { abbreviate } from '../support/brief.js';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { projectionName, projectionKinds, type LoraModule } from '../model/weights.js';
import { adapterConfigFile } from './contentHash.js';

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
    projectionKinds.map((projection) => ({ layer, projection, name: projectionName(layer, projection) })),
  ).flat();
  const known = new Set(all.flatMap(({ name }) => ends(name)));
  for (const target of lora.targets ?? []) {
    if (!known.has(target)) {
      throw refused('target_modules', `names ${abbreviate(target)}, which is no projection of this model`);
    }
  }
  for (const layer of lora.layers ?? []) {
    if (layer >= config.layers) throw refused('layers_to_transform', `names layer ${layer} of ${config.layers}`);
  }
  const [rankOf, scaleOf] = [ranks(lora), scales(lora)];
  const isTarget = targetMatcher(lora);
  const modules = all
    .filter(({ name, layer }) => isTarget(name, layer))
    .map(({ layer, projection, name }) => ({ layer, projection, rank: rankOf(name), scale: scaleOf(name) }));
  if (modules.length === 0) throw refused('target_modules', 'names nothing in the layers of layers_to_transform');
  return modules;
}

/** The factor of a module's low-rank term, by the module's name. */
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

function targetMatcher(lora: LoraHyperparameters): (name: string, layer: number) => boolean {
  const targets = lora.targets === undefined ? undefined : new Set(lora.targets);
  const layers = lora.layers === undefined ? undefined : new Set(lora.layers);
  return (name, layer) => {
    const inLayer = layers?.has(layer) ?? true;
    if (targets === undefined) return inLayer;
    return targets.has(name) || (inLayer && ends(name).some((end) => targets.has(end)));
  };
}

/** The name itself and what follows each of its dots, the longest first. */
function ends(name: string): readonly string[] {
  const parts = name.split('.');
  return parts.map((_, index) => parts.slice(index).join('.'));
}

/** A space stands for any character. */
const wildcard = 0x20;

interface Pattern {
  /** What it matches, a space standing for any character. */
  readonly text: string;
  /** Whether it matches whole names only. */
  readonly whole: boolean;
  /** Its place among the patterns. */
  readonly index: number;
  readonly value: number;
}

/**
 * As `isPattern` leaves only letters, dots and any characters, a pattern matches ends of its own length: there may be
 * thousands of patterns for each of thousands of modules, and regular expressions would take seconds.
 */
function matcher(patterns: ReadonlyMap<string, number> | undefined, otherwise: number): (name: string) => number {
  if (patterns === undefined || patterns.size === 0) return () => otherwise;
  const byLength = new Map<number, Pattern[]>();
  for (const [index, [pattern, value]] of [...patterns].entries()) {
    const text = pattern.replace(/^\^/, '').replace(/\\?\./g, (dot) => (dot === '.' ? ' ' : '.'));
    const alike = byLength.get(text.length);
    const entry = { text, whole: pattern.startsWith('^'), index, value };
    if (alike === undefined) byLength.set(text.length, [entry]);
    else alike.push(entry);
  }
  return (name) => {
    let first: Pattern | undefined;
    for (const end of ends(name)) {
      const found = byLength
        .get(end.length)
        ?.find(({ text, whole }) => (!whole || end.length === name.length) && matches(text, end));
      if (found !== undefined && (first === undefined || found.index < first.index)) first = found;
    }
    return first?.value ?? otherwise;
  };
}

/** Compares from the end, where the names of modules differ soonest. */
function matches(text: string, end: string): boolean {
  for (let index = text.length - 1; index >= 0; index -= 1) {
    const character = text.charCodeAt(index);
    if (character !== wildcard && character !== end.charCodeAt(index)) return false;
  }
  return true;
}

function refused(field: string, reason: string): EngineError {
  return new EngineError('adapter_invalid', `${adapterConfigFile}: ${field} ${reason}.`);
}
