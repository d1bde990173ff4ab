/** The two ends of a training that computes elsewhere: its first matrices, rows laid out, and files in the end. */
import { readAdapter, writeAdapter } from '../adapters/adapterFolder.js';
import { adapterEntries, peftKey, takeMatrices, type LoraAdapter } from '../adapters/loraAdapter.js';
import { parsePeftConfig, serializePeftConfig } from '../adapters/peftConfig.js';
import { probeMetadata } from '../adapters/probe.js';
import { serializeSafetensors, type FloatTensor } from '../checkpoint/safetensors.js';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { Tensor } from '../onnx/tensor.js';
import type {
  AdapterPrecision,
  AdapterProbe,
  AdapterReference,
  ResumeOptions,
  TrainingExample,
  TrainingOptions,
} from '../types.js';
import type { AdamWOptions } from './adamW.js';
import { buildBatch } from './batch.js';
import { freshMatrices, toAdapter, trainedBytes } from './parameters.js';
import type { LaidOutRun } from './runLayout.js';
import { readSnapshot, writeSnapshot } from './snapshot.js';
import {
  checkOptions,
  checkProtected,
  hashProtected,
  layersFrom,
  optimizerOptions,
  requireSameProtected,
} from './trainingOptions.js';

/** A training's settings, which stay as they are. */
export interface TrainingSettings {
  /** The text of `adapter_config.json`. */
  readonly adapterConfig: string;
  readonly optimizer: AdamWOptions;
  readonly protectedHash: string | null;
}

/** A training before its first step, or where a snapshot left it. */
export interface TrainingStart extends TrainingSettings {
  /**
   * Safetensors in F32. Each matrix has PEFT's name. Where the training goes on, each has two more with
   * `first_moment.` and `second_moment.` before that name, the optimizer's.
   */
  readonly state: Uint8Array;
  /** Steps so far. */
  readonly steps: number;
  /** Whether the matrices are new and do nothing yet. */
  readonly isFresh: boolean;
}

/**
 * Some rows of a batch as plain numbers. `buildTrainingGraph` says what they mean. The losses and gradients of a batch
 * are the sums over its runs.
 */
export interface PlainRun {
  readonly rows: number;
  /** Tokens of a row, padding included. */
  readonly length: number;
  /** Whether rows hold several sequences. */
  readonly packed: boolean;
  readonly ids: readonly number[];
  readonly segments: readonly number[];
  readonly trunks: readonly number[];
  readonly places: readonly number[];
  readonly positions: readonly number[];
  /** As many for each position. */
  readonly targetIds: readonly number[];
  readonly targetProbabilities: readonly number[];
  readonly weights: readonly number[];
}

export interface PlainBatch {
  readonly runs: readonly PlainRun[];
  /** Tokens that go through the model, without padding. */
  readonly tokens: number;
}

export interface RunBounds {
  readonly maxRunTokens: number;
  readonly maxRunLogits: number;
}

export interface SaveTarget {
  readonly folder: string;
  readonly precision?: AdapterPrecision | undefined;
}

/** The matrices that were trained, without the optimizer's moments. */
export interface TrainedAdapter {
  readonly adapterConfig: string;
  /** See `TrainingStart`. */
  readonly state: Uint8Array;
  readonly probe: AdapterProbe | null;
}

/** The matrices that were trained, with the optimizer's moments. */
export interface ReachedState {
  readonly state: Uint8Array;
  readonly steps: number;
}

/** @throws EngineError as `openTrainingSession`, as far as nothing is computed. */
export async function beginTraining(
  config: DecoderConfig,
  name: string,
  options: TrainingOptions | ResumeOptions,
): Promise<TrainingStart> {
  const protectedHash = hashProtected(options);
  checkProtected(options.protectedDirections ?? [], config);
  if ('resume' in options) {
    const snapshot = await readSnapshot(options.resume, config, name);
    requireSameProtected(snapshot.protectedHash, options);
    const { adapter, optimizer } = snapshot;
    return {
      adapterConfig: serializePeftConfig(adapter, name).toString('utf8'),
      optimizer: snapshot.options,
      protectedHash,
      state: serializeState(adapter, [optimizer.first, optimizer.second]),
      steps: optimizer.steps,
      isFresh: false,
    };
  }
  checkOptions(options, config);
  const adapter = await beginAdapter(config, options);
  return {
    adapterConfig: serializePeftConfig(adapter, name).toString('utf8'),
    optimizer: optimizerOptions(options),
    protectedHash,
    state: serializeState(adapter, []),
    steps: 0,
    isFresh: options.parent === null,
  };
}

async function beginAdapter(config: DecoderConfig, options: TrainingOptions): Promise<LoraAdapter> {
  const { parent, rank, alpha, seed, firstLayer = 0 } = options;
  if (parent !== null) return readAdapter(parent, config, { preparedBytes: trainedBytes(config) });
  return toAdapter(freshMatrices(config, rank, seed, firstLayer), { rank, alpha, ...layersFrom(firstLayer, config) });
}

/**
 * Lays a batch out as the embedded engine does, so that a beginning that sequences share goes through the model once.
 * @throws EngineError as `buildBatch`
 */
export function layOutBatch(
  config: DecoderConfig,
  examples: readonly TrainingExample[],
  bounds: RunBounds,
): PlainBatch {
  const { parts, tokens } = buildBatch(examples, config, { ...bounds, inParts: false });
  return { runs: parts.flat().map(plainRun), tokens };
}

function plainRun({ feeds, rows, length, packed }: LaidOutRun): PlainRun {
  const numbers = (name: string): readonly number[] => plainNumbers(name, feeds[name]);
  return {
    rows,
    length,
    packed,
    ids: numbers('ids'),
    segments: numbers('segments'),
    trunks: numbers('trunks'),
    places: numbers('places'),
    positions: numbers('positions'),
    targetIds: numbers('target.ids'),
    targetProbabilities: numbers('target.probabilities'),
    weights: numbers('weights'),
  };
}

function plainNumbers(name: string, tensor: Tensor | undefined): readonly number[] {
  if (tensor === undefined) throw new EngineError('internal', `a run has no ${name}`);
  return Array.from(tensor.data, Number);
}

/**
 * Writes what was trained elsewhere as `TrainingSession.save` does.
 * @throws EngineError `adapter_invalid`, naming the key, if the state does not fit the model and its settings.
 */
export async function saveTraining(
  config: DecoderConfig,
  name: string,
  target: SaveTarget,
  trained: TrainedAdapter,
): Promise<AdapterReference & { readonly sizeBytes: number }> {
  const { adapter } = parseState(config, trained.adapterConfig, trained.state, false);
  return writeAdapter(target.folder, adapter, name, target.precision, probeMetadata(trained.probe));
}

/**
 * Writes what was trained elsewhere as `TrainingSession.snapshot` does, so that either engine goes on from it.
 * @throws EngineError as `saveTraining`
 */
export async function snapshotTraining(
  config: DecoderConfig,
  name: string,
  folder: string,
  { adapterConfig, optimizer: options, protectedHash }: TrainingSettings,
  { state, steps }: ReachedState,
): Promise<void> {
  const { adapter, moments } = parseState(config, adapterConfig, state, true);
  const [first = new Float32Array(), second = new Float32Array()] = moments;
  await writeSnapshot(folder, { adapter, optimizer: { first, second, steps }, options, protectedHash }, name);
}

const momentNames = ['first_moment', 'second_moment'] as const;

function serializeState(adapter: LoraAdapter, moments: readonly Float32Array[]): Uint8Array {
  const tensors: [string, FloatTensor][] = [];
  let start = 0;
  for (const [name, tensor] of adapter.matrices) {
    const end = start + tensor.data.length;
    tensors.push([peftKey(name), tensor]);
    for (const [index, moment] of moments.entries()) {
      const key = momentKey(momentNames[index] ?? '', peftKey(name));
      tensors.push([key, { shape: tensor.shape, data: moment.subarray(start, end) }]);
    }
    start = end;
  }
  return serializeSafetensors(tensors, { format: 'pt' });
}

function parseState(
  config: DecoderConfig,
  adapterConfig: string,
  state: Uint8Array,
  withMoments: boolean,
): { readonly adapter: LoraAdapter; readonly moments: readonly Float32Array[] } {
  const lora = parsePeftConfig(Buffer.from(adapterConfig, 'utf8'));
  const entries = adapterEntries(state);
  const take = (keyOf: (key: string) => string): ReadonlyMap<string, FloatTensor> =>
    takeMatrices(state, entries, config, lora, keyOf);
  const adapter = { ...lora, matrices: take((key) => key) };
  const moments = (withMoments ? momentNames : []).map((name) => flatten(take((key) => momentKey(name, key))));
  const [unknown] = entries.keys();
  if (unknown === undefined) return { adapter, moments };
  throw new EngineError('adapter_invalid', `the trained state has ${unknown}, which nobody asked for`);
}

function momentKey(moment: string, key: string): string {
  return `${moment}.${key}`;
}

/** One after the other, in the order of `FlatMatrices`. */
function flatten(matrices: ReadonlyMap<string, FloatTensor>): Float32Array {
  const flat = new Float32Array([...matrices.values()].reduce((length, { data }) => length + data.length, 0));
  let start = 0;
  for (const { data } of matrices.values()) {
    flat.set(data, start);
    start += data.length;
  }
  return flat;
}
