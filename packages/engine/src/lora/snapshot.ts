/**
 * A training on disk: the adapter in PEFT's format, the optimizer's moments and the settings. A training that is read
 * back goes on as if it had never been interrupted.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { readAdapter } from '../adapters/adapterFolder.js';
import { adapterConfigFile, contentHash, adapterWeightsFile } from '../adapters/contentHash.js';
import { readBounded, writeFolder } from '../support/folders.js';
import { serializeMatrices, type LoraAdapter } from '../adapters/loraAdapter.js';
import { serializePeftConfig } from '../adapters/peftConfig.js';
import { abbreviate } from '../support/abbreviate.js';
import { readHeaderFrom, readTensorFrom, serializeSafetensors } from '../checkpoint/safetensors.js';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { sum } from '../support/numbers.js';
import type { AdamWOptions, AdamWState } from './adamW.js';
import { trainedBytes } from './parameters.js';

const stateFile = 'training.json';
const momentsFile = 'optimizer.safetensors';
const snapshotFormat = 1;
const maxStateBytes = 2 ** 16;
const maxMomentsHeaderBytes = 2 ** 16;

export interface TrainingSnapshot {
  readonly adapter: LoraAdapter;
  readonly optimizer: AdamWState;
  readonly options: AdamWOptions;
  /** Identity of the protected sequences; `null` if there are none. */
  readonly protectedHash: string | null;
}

/** @param model identity of the base model. A snapshot resumes only with the same one. */
export async function writeSnapshot(folder: string, snapshot: TrainingSnapshot, model: string | null): Promise<void> {
  const { adapter, optimizer, options, protectedHash } = snapshot;
  const files = { config: serializePeftConfig(adapter, model), weights: serializeMatrices(adapter) };
  const moments = serializeSafetensors(
    [
      ['first_moment', { shape: [optimizer.first.length], data: optimizer.first }],
      ['second_moment', { shape: [optimizer.second.length], data: optimizer.second }],
    ],
    {},
  );
  const state = {
    format: snapshotFormat,
    model,
    adapter_hash: contentHash(files),
    optimizer_sha256: sha256(moments),
    steps: optimizer.steps,
    betas: options.betas,
    weight_decay: options.weightDecay,
    // JSON has no infinity.
    clip_norm: options.clipNorm === Infinity ? null : options.clipNorm,
    // Named as in the snapshots of earlier versions.
    spared_sha256: protectedHash,
  };
  await writeFolder(folder, {
    [adapterConfigFile]: files.config,
    [adapterWeightsFile]: files.weights,
    [momentsFile]: moments,
    [stateFile]: Buffer.from(`${JSON.stringify(state, null, 2)}\n`, 'utf8'),
  });
}

/**
 * @throws EngineError `adapter_invalid` naming the file and the field that is missing, damaged or of another model;
 *   `memory_exceeded`.
 */
export async function readSnapshot(
  folder: string,
  config: DecoderConfig,
  model: string | null,
): Promise<TrainingSnapshot> {
  const state = parseState(await readBounded(path.join(folder, stateFile), maxStateBytes));
  if (state.model !== model)
    throw refused(stateFile, `model is ${abbreviate(state.model)}, but this engine runs ${abbreviate(model)}`);
  const readOptions = { preparedBytes: trainedBytes(config) };
  const reference = { folder, contentHash: state.adapterHash };
  const adapter = await readAdapter(reference, config, readOptions).catch((error: unknown) => {
    // A snapshot is no stored adapter, so its kinds of damage need not be told apart.
    if (!(error instanceof EngineError) || error.code !== 'adapter_damaged') throw error;
    throw new EngineError('adapter_invalid', error.message, { cause: error });
  });
  const size = sum([...adapter.matrices.values()].map(({ data }) => data.length));
  const limit = 2 * size * Float32Array.BYTES_PER_ELEMENT + maxMomentsHeaderBytes;
  const bytes = await readBounded(path.join(folder, momentsFile), limit);
  if (sha256(bytes) !== state.optimizerHash) throw refused(momentsFile, `its hash is not the one in ${stateFile}`);
  const [first, second] = readMoments(bytes, size);
  const { steps, options, protectedHash } = state;
  return { adapter, optimizer: { first, second, steps }, options, protectedHash };
}

function readMoments(bytes: Uint8Array, size: number): readonly [Float32Array, Float32Array] {
  const entries = readHeaderFrom(bytes, { code: 'adapter_invalid', file: momentsFile });
  const read = (name: string): Float32Array => {
    const entry = entries.find((candidate) => candidate.name === name);
    if (entry?.shape.join() !== String(size)) throw refused(momentsFile, `${name} must have ${size} numbers`);
    return readTensorFrom(bytes, entry);
  };
  return [read('first_moment'), read('second_moment')];
}

interface State {
  readonly model: unknown;
  readonly adapterHash: string;
  readonly optimizerHash: string;
  readonly steps: number;
  readonly options: AdamWOptions;
  readonly protectedHash: string | null;
}

function parseState(bytes: Uint8Array): State {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new EngineError('adapter_invalid', `${stateFile} is not JSON`, { cause });
  }
  const state: Readonly<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {};
  if (state['format'] !== snapshotFormat)
    throw refused(stateFile, `format must be ${snapshotFormat}, but is ${abbreviate(state['format'])}`);
  const number = (name: string, holds: (value: number) => boolean): number => {
    const found = state[name];
    if (typeof found !== 'number' || !holds(found))
      throw refused(stateFile, `${name} must be a number within its range, but is ${abbreviate(found)}`);
    return found;
  };
  const text = (name: string): string => {
    const found = state[name];
    if (typeof found !== 'string') throw refused(stateFile, `${name} must be a string`);
    return found;
  };
  return {
    model: state['model'],
    adapterHash: text('adapter_hash'),
    optimizerHash: text('optimizer_sha256'),
    steps: number('steps', (steps) => Number.isSafeInteger(steps) && steps >= 0),
    options: {
      betas: readBetas(state['betas']),
      weightDecay: number('weight_decay', (decay) => Number.isFinite(decay) && decay >= 0),
      clipNorm: state['clip_norm'] === null ? Infinity : number('clip_norm', (norm) => norm > 0),
    },
    // Older snapshots lack the field, because no directions were protected.
    protectedHash: (state['spared_sha256'] ?? null) === null ? null : text('spared_sha256'),
  };
}

function readBetas(value: unknown): readonly [number, number] {
  const isBeta = (item: unknown): item is number => typeof item === 'number' && item >= 0 && item < 1;
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  const [first, second, ...rest] = list;
  if (isBeta(first) && isBeta(second) && rest.length === 0) return [first, second];
  throw refused(stateFile, 'betas must be two numbers of at least 0 and below 1');
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function refused(file: string, reason: string): EngineError {
  return new EngineError('adapter_invalid', `${file}: ${reason}`);
}
