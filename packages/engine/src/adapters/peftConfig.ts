/** PEFT's `adapter_config.json`, as far as plain LoRA on all seven projections goes. */
import { EngineError } from '../engine.js';
import { PROJECTIONS } from '../model/weights.js';
import { CONFIG_FILE } from './contentHash.js';

export const MAX_RANK = 1024;

export interface LoraHyperparameters {
  /** 1 to `MAX_RANK`. */
  readonly rank: number;
  /** Positive; the low-rank term is multiplied by alpha / rank. */
  readonly alpha: number;
}

/** Fields that say nothing about the computation, and what they may hold. */
const INFORMATIVE_FIELDS: ReadonlySet<string> = new Set([
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
const FIXED_FIELDS: Readonly<Record<string, unknown>> = { peft_type: 'LORA', bias: 'none', task_type: 'CAUSAL_LM' };

/** @param baseModel recorded for people and tools; not read back. */
export function serializePeftConfig(hyperparameters: LoraHyperparameters, baseModel: string | null): Buffer {
  const config = {
    base_model_name_or_path: baseModel,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    lora_alpha: hyperparameters.alpha,
    lora_dropout: 0,
    peft_type: 'LORA',
    r: hyperparameters.rank,
    target_modules: PROJECTIONS,
    task_type: 'CAUSAL_LM',
  };
  return Buffer.from(`${JSON.stringify(config, null, 2)}\n`, 'utf8');
}

/**
 * Reads what `serializePeftConfig` or PEFT wrote. Any further field must be empty (null, false, `[]`, `{}`):
 * otherwise it asks for something that this engine would silently leave out.
 * @throws EngineError `adapter_invalid` naming the field.
 */
export function parsePeftConfig(bytes: Uint8Array): LoraHyperparameters {
  const config = parseObject(bytes);
  for (const [field, value] of Object.entries(FIXED_FIELDS)) {
    if (config[field] !== value) throw refused(field, `must be ${JSON.stringify(value)}`);
  }
  const { r: rank, lora_alpha: alpha, target_modules: targets, ...others } = config;
  if (typeof rank !== 'number' || !Number.isInteger(rank) || rank < 1 || rank > MAX_RANK) {
    throw refused('r', `must be a whole number from 1 to ${MAX_RANK}`);
  }
  if (typeof alpha !== 'number' || !Number.isFinite(alpha) || alpha <= 0) {
    throw refused('lora_alpha', 'must be a positive number');
  }
  if (!isEveryProjection(targets)) {
    throw refused('target_modules', `must list exactly ${PROJECTIONS.join(', ')}`);
  }
  for (const [field, value] of Object.entries(others)) {
    // Other initialisations, such as PiSSA, change the base weights as well.
    if (field === 'init_lora_weights' && value === true) continue;
    if (INFORMATIVE_FIELDS.has(field) || Object.hasOwn(FIXED_FIELDS, field) || isEmpty(value)) continue;
    throw refused(field, 'asks for something that is not supported');
  }
  return { rank, alpha };
}

function parseObject(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new EngineError('adapter_invalid', `${CONFIG_FILE} is not JSON.`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new EngineError('adapter_invalid', `${CONFIG_FILE} is not an object.`);
  }
  return { ...value };
}

function isEveryProjection(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== PROJECTIONS.length) return false;
  const names = new Set<unknown>(value);
  return PROJECTIONS.every((projection) => names.has(projection));
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object') return value === false;
  return value === null || Object.keys(value).length === 0;
}

function refused(field: string, reason: string): EngineError {
  return new EngineError('adapter_invalid', `${CONFIG_FILE}: ${field} ${reason}.`);
}
