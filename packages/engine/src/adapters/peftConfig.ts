/** PEFT's `adapter_config.json`, as far as it describes LoRA on the seven projections. */
import { abbreviate } from '../support/abbreviate.js';
import { EngineError } from '../engine.js';
import { projectionKinds } from '../model/weights.js';
import { adapterConfigFile } from './contentHash.js';
import { isPattern, type LoraHyperparameters } from './loraModules.js';

export const maxConfigBytes = 2 ** 20;
export const maxRank = 1024;
/** The most entries of a list or object. No model has so many modules. */
const maxNames = 8192;

/** Fields that do not affect the computation and may hold anything. */
const informativeFields: ReadonlySet<string> = new Set([
  'auto_mapping',
  'base_model_name_or_path',
  'inference_mode',
  'lora_dropout',
  'megatron_core',
  'peft_version',
  'qalora_group_size',
  'revision',
]);

/** Fields that must be present with these values. */
const fixedFields: Readonly<Record<string, unknown>> = { peft_type: 'LORA', bias: 'none', task_type: 'CAUSAL_LM' };

/** Initialisations that leave the base weights alone. Others, such as PiSSA, change them. */
const harmlessInitialisations: readonly unknown[] = [true, false, null, 'gaussian'];

/** @param baseModel recorded for people and tools, and for `readTrainedOn`. */
export function serializePeftConfig(lora: LoraHyperparameters, baseModel: string | null): Buffer {
  const config = {
    ...(lora.alphaPattern === undefined ? {} : { alpha_pattern: Object.fromEntries(lora.alphaPattern) }),
    base_model_name_or_path: baseModel,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    ...(lora.layers === undefined ? {} : { layers_to_transform: lora.layers }),
    lora_alpha: lora.alpha,
    lora_dropout: 0,
    peft_type: 'LORA',
    r: lora.rank,
    ...(lora.rankPattern === undefined ? {} : { rank_pattern: Object.fromEntries(lora.rankPattern) }),
    target_modules: lora.targets ?? projectionKinds,
    task_type: 'CAUSAL_LM',
    ...(lora.rsLora === true ? { use_rslora: true } : {}),
  };
  return Buffer.from(`${JSON.stringify(config, null, 2)}\n`, 'utf8');
}

/**
 * Reads what `serializePeftConfig` or PEFT wrote. Every field that is not read must be empty (null, false, `[]`, `{}`),
 * because it would ask for something that this engine ignores.
 * @throws EngineError `adapter_invalid` naming the field.
 */
export function parsePeftConfig(bytes: Uint8Array): LoraHyperparameters {
  const config = parseObject(bytes);
  for (const [field, value] of Object.entries(fixedFields)) {
    if (config[field] !== value) throw refused(field, `must be ${JSON.stringify(value)}`);
  }
  const {
    r: rank,
    lora_alpha: alpha,
    target_modules: targets,
    layers_to_transform: layers,
    rank_pattern: rankPattern,
    alpha_pattern: alphaPattern,
    use_rslora: rsLora = false,
    init_lora_weights: initialisation = true,
    ...others
  } = config;
  if (!isRank(rank)) throw refused('r', rankRequirement);
  if (!isAlpha(alpha)) throw refused('lora_alpha', alphaRequirement);
  if (rsLora !== null && typeof rsLora !== 'boolean') throw refused('use_rslora', 'must be true or false');
  if (!harmlessInitialisations.includes(initialisation)) {
    throw refused('init_lora_weights', `must be true, false, null or "gaussian", but is ${abbreviate(initialisation)}`);
  }
  for (const [field, value] of Object.entries(others)) {
    if (informativeFields.has(field) || Object.hasOwn(fixedFields, field) || isEmpty(value)) continue;
    throw refused(field, `is ${abbreviate(value)}, which is not supported: it must be absent or empty`);
  }
  return {
    rank,
    alpha,
    ...parseTargets(targets),
    ...parseLayers(layers),
    ...optional('rankPattern', parsePattern('rank_pattern', rankPattern, isRank, rankRequirement)),
    ...optional('alphaPattern', parsePattern('alpha_pattern', alphaPattern, isAlpha, alphaRequirement)),
    ...(rsLora === true ? { rsLora } : {}),
  };
}

const rankRequirement = `must be a whole number from 1 to ${maxRank}`;
const alphaRequirement = 'must be a positive number';

function isRank(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= maxRank;
}

function isAlpha(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

/** Python writes sets in no particular order, so the seven projections may come in any order. */
function parseTargets(value: unknown): Pick<LoraHyperparameters, 'targets'> {
  const isName = (item: unknown): item is string => typeof item === 'string' && /^[\w.]+$/.test(item);
  const distinct = Array.isArray(value) && new Set(value).size === value.length;
  if (!distinct || value.length === 0 || value.length > maxNames || !value.every(isName)) {
    throw refused('target_modules', `must list 1 to ${maxNames} distinct names of modules`);
  }
  const everything =
    value.length === projectionKinds.length && projectionKinds.every((projection) => value.includes(projection));
  return everything ? {} : { targets: value };
}

/** One layer or a list of layers. An empty list means all layers. */
function parseLayers(value: unknown): Pick<LoraHyperparameters, 'layers'> {
  if (value === undefined || value === null) return {};
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isLayer = (item: unknown): item is number => Number.isSafeInteger(item) && Number(item) >= 0;
  if (list.length > maxNames || !list.every(isLayer)) {
    throw refused('layers_to_transform', 'must be the number of a layer, or a list of such numbers');
  }
  return list.length === 0 ? {} : { layers: list };
}

function parsePattern(
  field: string,
  value: unknown,
  isValue: (value: unknown) => value is number,
  wish: string,
): ReadonlyMap<string, number> | undefined {
  if (value === undefined || value === null) return undefined;
  const entries = typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : undefined;
  if (entries === undefined || entries.length > maxNames)
    throw refused(field, `must be an object of at most ${maxNames} entries`);
  for (const [pattern, item] of entries) {
    const name = abbreviate(pattern);
    if (!isPattern(pattern))
      throw refused(field, `has the key ${name}; only names, dots and a leading ^ are supported`);
    if (!isValue(item)) throw refused(field, `[${name}] ${wish}`);
  }
  return entries.length === 0 ? undefined : new Map(entries);
}

function optional<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}

/** @throws EngineError `adapter_invalid` when it is not a JSON object. */
export function parseObject(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new EngineError('adapter_invalid', `${adapterConfigFile} is not JSON`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new EngineError('adapter_invalid', `${adapterConfigFile} must hold a JSON object`);
  }
  return { ...value };
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object') return value === false;
  return value === null || Object.keys(value).length === 0;
}

function refused(field: string, reason: string): EngineError {
  return new EngineError('adapter_invalid', `${adapterConfigFile}: ${field} ${reason}`);
}
