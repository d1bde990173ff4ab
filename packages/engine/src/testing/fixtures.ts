/** Shared by the tests: the fixtures of `fixtures/make_fixtures.py`, and random models. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readAdapter } from '../adapters/adapterFolder.js';
import { adapterConfigFile, contentHash, adapterWeightsFile } from '../adapters/contentHash.js';
import type { LoraAdapter } from '../adapters/loraAdapter.js';
import { readModelConfig } from '../checkpoint/modelConfig.js';
import { loadWeights } from '../checkpoint/weightFiles.js';
import { readHeaderFrom, readTensorFrom, type FloatTensor } from '../checkpoint/safetensors.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import type { WeightsInUse } from '../model/sharedWeights.js';
import { decoderWeightShapes, type DecoderWeights, type WeightReader } from '../model/weights.js';
import { createRandom } from '../support/random.js';
import type { AdapterReference, TrainingExample } from '../types.js';
import { elementCount } from '../support/numbers.js';

export const fixtureNames = [
  'llama-untied',
  'mistral-linear',
  'qwen2-bias',
  'qwen3-tied',
  'llama-yarn',
  'llama-dynamic',
  'mistral-window',
  'qwen2-window',
  'qwen3-window',
  'llama-wide',
] as const;

export interface Fixture {
  readonly config: DecoderConfig;
  readonly weights: DecoderWeights;
  readonly adapter: LoraAdapter;
  readonly adapterReference: AdapterReference;
  /** Examples with soft targets. Leave these out for hard ones. */
  readonly examples: readonly TrainingExample[];
  /** See `make_fixtures.py` for the names. */
  readonly expected: ReadonlyMap<string, FloatTensor>;
}

export function fixtureFolder(name: string): string {
  return path.join(fileURLToPath(new URL('../../fixtures/', import.meta.url)), name);
}

export async function loadFixture(name: (typeof fixtureNames)[number]): Promise<Fixture> {
  const folder = fixtureFolder(name);
  const { decoder: config } = await readModelConfig(folder);
  const adapterReference = referenceTo(path.join(folder, 'adapter'));
  const cases = JSON.parse(readFileSync(path.join(folder, 'cases.json'), 'utf8')) as (Omit<
    TrainingExample,
    'sequence'
  > &
    TrainingExample['sequence'])[];
  return {
    config,
    weights: await loadWeights(folder, config),
    adapter: await readAdapter(adapterReference, config),
    adapterReference,
    examples: cases.map(({ tokens, targetStart, ...rest }) => ({ sequence: { tokens, targetStart }, ...rest })),
    expected: readTensors(path.join(folder, 'expected.safetensors')),
  };
}

/** A reference with the folder's present hash. */
export function referenceTo(folder: string): AdapterReference {
  const config = readFileSync(path.join(folder, adapterConfigFile));
  const weights = readFileSync(path.join(folder, adapterWeightsFile));
  return { folder, contentHash: contentHash({ config, weights }) };
}

export function readTensors(file: string): ReadonlyMap<string, FloatTensor> {
  const bytes = readFileSync(file);
  const entries = readHeaderFrom(bytes, { code: 'checkpoint_invalid', file });
  return new Map(entries.map((entry) => [entry.name, { shape: entry.shape, data: readTensorFrom(bytes, entry) }]));
}

/** A tiny decoder whose sizes all differ, so that a mix-up of two sizes shows. */
export const tinyConfig: DecoderConfig = {
  architecture: 'llama',
  vocabularySize: 53,
  hiddenSize: 24,
  layers: 2,
  heads: 6,
  kvHeads: 2,
  headDim: 16,
  ffnSize: 40,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: { kind: 'default' },
  tieWordEmbeddings: false,
  contextLength: 48,
  qkNorm: false,
  attentionBias: false,
};

export function randomWeights(config: DecoderConfig, seed: number): DecoderWeights {
  const random = createRandom(seed);
  const weights = new Map<string, FloatTensor>();
  for (const [name, shape] of decoderWeightShapes(config)) {
    const centre = name.includes('norm') ? 1 : 0;
    weights.set(name, {
      shape,
      data: Float32Array.from({ length: elementCount(shape) }, () => centre + random.next() - 0.5),
    });
  }
  return weights;
}

/** Presents weights in memory as a reader. */
export function readerOf(weights: DecoderWeights): WeightReader {
  return {
    read: (places) => {
      for (const [name, place] of places) place.set(weights.get(name)?.data ?? []);
      return Promise.resolve();
    },
    blocks: async function* (name) {
      yield await Promise.resolve(weights.get(name)?.data ?? new Float32Array());
    },
  };
}

/** Uniform numbers from -0.5 to 0.5. */
export function randomNumbers(length: number, seed: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length }, () => random.next() - 0.5);
}

/** Weights that need not be released. */
export function unmanagedWeights(feeds: Feeds): WeightsInUse {
  return { format: 'f32', feeds, release: () => undefined };
}

/** A folder that is removed when the test ends. */
export async function temporaryFolder(test: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-test-'));
  test.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Puts the temporary files of one test into a folder of its own. */
export function withScratch(t: TestContext, folder: string): string {
  const before = process.env['TMPDIR'];
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
  process.env['TMPDIR'] = folder;
  return folder;
}

export function greatestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Infinity;
  let greatest = 0;
  for (let index = 0; index < a.length; index += 1) {
    const difference = Math.abs((a[index] ?? NaN) - (b[index] ?? NaN));
    if (!(difference <= greatest)) greatest = difference;
  }
  return greatest;
}

/** The Euclidean distance of two vectors, divided by the length of the second. */
export function relativeError(actual: Float32Array, expected: Float32Array): number {
  if (actual.length !== expected.length) return Infinity;
  let distance = 0;
  let norm = 0;
  for (const [index, value] of expected.entries()) {
    distance += ((actual[index] ?? NaN) - value) ** 2;
    norm += value ** 2;
  }
  return Math.sqrt(distance / norm);
}
