/** Which projections an adapter changes, with what rank and scale: PEFT's rules for `adapter_config.json`. */
import { abbreviate } from '../support/abbreviate.js';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { projectionName, projectionKinds, type LoraModule } from '../model/weights.js';
import { adapterConfigFile } from './contentHash.js';

export interface LoraHyperparameters {
  /** 1 to `maxRank`. */
  readonly rank: number;
  /** Positive. The low-rank term is multiplied by alpha / rank. */
  readonly alpha: number;
  /** Names of modules, or endings of such names after a dot. Absent for all seven projections. */
  readonly targets?: readonly string[];
  /** Layers that the targets apply to. A target that is a module's whole name applies anyway. Absent for all layers. */
  readonly layers?: readonly number[];
  /** Ranks of modules whose names end in a match of the pattern. The first matching pattern counts. */
  readonly rankPattern?: ReadonlyMap<string, number>;
  /** Alphas by pattern, as in `rankPattern`. */
  readonly alphaPattern?: ReadonlyMap<string, number>;
  /** Multiply by alpha / √rank instead (Kalajdzievski 2023, https://arxiv.org/abs/2312.03732). */
  readonly rsLora?: boolean;
}

/**
 * The adapted modules in the order of the model.
 * @throws EngineError `adapter_invalid` naming the field that asks for a module which the model lacks.
 */
export function loraModules(config: DecoderConfig, lora: LoraHyperparameters): readonly LoraModule[] {
  const all = Array.from({ length: config.layers }, (_, layer) =>
    projectionKinds.map((projection) => ({ layer, projection, name: projectionName(layer, projection) })),
  ).flat();
  const known = new Set(all.flatMap(({ name }) => ends(name)));
  for (const target of lora.targets ?? []) {
    if (!known.has(target)) {
      const present = `${projectionKinds.join(', ')} in layers 0 to ${config.layers - 1}`;
      throw refused('target_modules', `names ${abbreviate(target)}, but the model has only ${present}`);
    }
  }
  for (const layer of lora.layers ?? []) {
    if (layer >= config.layers)
      throw refused('layers_to_transform', `names layer ${layer}, but the model has layers 0 to ${config.layers - 1}`);
  }
  const [rankOf, scaleOf] = [ranks(lora), scales(lora)];
  const isTarget = targetMatcher(lora);
  const modules = all
    .filter(({ name, layer }) => isTarget(name, layer))
    .map(({ layer, projection, name }) => ({ layer, projection, rank: rankOf(name), scale: scaleOf(name) }));
  if (modules.length === 0) throw refused('target_modules', 'names no projection in the layers of layers_to_transform');
  return modules;
}

/** Gives the factor of a module's low-rank term for the module's name. */
export function scales(lora: LoraHyperparameters): (name: string) => number {
  const [rankOf, alphaOf] = [ranks(lora), matcher(lora.alphaPattern, lora.alpha)];
  return (name) => alphaOf(name) / (lora.rsLora === true ? Math.sqrt(rankOf(name)) : rankOf(name));
}

/** Whether a pattern has only harmless characters. Others could make a regular expression that runs for ever. */
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

/** The name itself and everything after each of its dots, longest first. */
function ends(name: string): readonly string[] {
  const parts = name.split('.');
  return parts.map((_, index) => parts.slice(index).join('.'));
}

/** A space in `Pattern.text` stands for any character. */
const wildcard = 0x20;

interface Pattern {
  /** The text to match. A space stands for any character. */
  readonly text: string;
  /** Whether it matches whole names only. */
  readonly whole: boolean;
  /** The position among the patterns. */
  readonly index: number;
  readonly value: number;
}

/**
 * Looks patterns up by length. `isPattern` allows only letters, dots and wildcards, so a pattern matches only endings
 * of its own length. There may be thousands of patterns and thousands of modules, and regular expressions would take
 * seconds.
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

/** Compares from the end, where the names of modules differ most. */
function matches(text: string, end: string): boolean {
  for (let index = text.length - 1; index >= 0; index -= 1) {
    const character = text.charCodeAt(index);
    if (character !== wildcard && character !== end.charCodeAt(index)) return false;
  }
  return true;
}

function refused(field: string, reason: string): EngineError {
  return new EngineError('adapter_invalid', `${adapterConfigFile}: ${field} ${reason}`);
}
