import type { FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import {
  decoderWeightShapes,
  weightCount,
  weightMemory,
  type DecoderWeights,
  type WeightTensor,
} from '../model/weights.js';
import { machineMemory } from '../machineMemory.js';
import { brief } from './brief.js';
import { openRegularFile } from './boundedFile.js';
import { JsonFields } from './jsonFields.js';
import { readHeader, readTensor, type ErrorContext, type TensorEntry } from './safetensors.js';

const SINGLE_FILE = 'model.safetensors';
const SHARD_INDEX = 'model.safetensors.index.json';

/** Names of the weight files of a checkpoint, one or several shards, in alphabetical order. */
export async function findWeightFiles(modelDir: string): Promise<readonly string[]> {
  const index = await JsonFields.readOptional(join(modelDir, SHARD_INDEX), SHARD_INDEX);
  if (index === undefined) return [SINGLE_FILE];
  const map = index.nested('weight_map');
  if (map === undefined) throw index.refusal('weight_map', 'an object');
  const files = new Set(Object.keys(map.raw).map((tensor) => map.string(tensor)));
  for (const file of files) {
    // A name with a path in it could reach outside the checkpoint.
    if (file !== basename(file) || !file.endsWith('.safetensors')) {
      throw new EngineError('checkpoint_invalid', `${SHARD_INDEX}: ${brief(file)} is not a file name`);
    }
  }
  return [...files].sort();
}

/**
 * Reads every tensor that `config` asks for as float32. All names and shapes are checked against the files' headers
 * before the first tensor is read, so that a wrong checkpoint costs no memory; and so is their sum, as a file with holes may
 * have any size.
 * @throws EngineError `checkpoint_invalid` naming the tensor, or the bytes that are needed and those that there are.
 */
export async function loadWeights(
  modelDir: string,
  config: DecoderConfig,
  memoryBytes = machineMemory(),
): Promise<DecoderWeights> {
  const files = await findWeightFiles(modelDir);
  const shapes = decoderWeightShapes(config);
  const found = new Map<string, string>();
  for (const file of files) {
    for (const entry of await inFile(modelDir, file, readTensorHeader)) {
      if (found.has(entry.name)) throw invalid(`${file}: ${entry.name} is in ${found.get(entry.name) ?? ''} too`);
      found.set(entry.name, file);
      checkEntry(file, entry, shapes, config);
    }
  }
  const missing = [...shapes.keys()].filter((name) => !found.has(name));
  if (missing.length > 0) throw invalid(`${files.join(', ')}: tensors are missing: ${briefList(missing)}`);

  const needed = weightCount(config) * Float32Array.BYTES_PER_ELEMENT;
  if (needed > memoryBytes) {
    throw invalid(`${files.join(', ')}: the weights take ${needed} bytes of memory, and there are ${memoryBytes}`);
  }

  const memory = weightMemory(config);
  const weights = new Map<string, WeightTensor>();
  for (const file of files) {
    await inFile(modelDir, file, async (handle, context) => {
      for (const entry of await readHeader(handle, context)) {
        const data = memory.get(entry.name);
        if (data === undefined) continue;
        await readTensor(handle, entry, context, data);
        weights.set(entry.name, { shape: entry.shape, data });
      }
    });
  }
  return weights;
}

type FileTask<T> = (handle: FileHandle, context: ErrorContext) => Promise<T>;

const readTensorHeader: FileTask<readonly TensorEntry[]> = readHeader;

async function inFile<T>(modelDir: string, file: string, task: FileTask<T>): Promise<T> {
  const context = { code: 'checkpoint_invalid', file } as const;
  const opened = await openRegularFile(join(modelDir, file), context);
  if (opened === undefined) throw invalid(`${file} is missing`);
  try {
    return await task(opened.handle, context);
  } finally {
    await opened.handle.close();
  }
}

function checkEntry(
  file: string,
  entry: TensorEntry,
  shapes: ReadonlyMap<string, readonly number[]>,
  config: DecoderConfig,
): void {
  const expected = shapes.get(entry.name);
  if (expected === undefined) {
    if (isHarmlessExtra(entry.name, config)) return;
    throw invalid(`${file}: the tensor ${entry.name} is not part of a ${config.architecture} decoder of this shape`);
  }
  if (expected.join() !== entry.shape.join()) {
    throw invalid(
      `${file}: ${entry.name} has shape [${entry.shape.join(', ')}], but config.json asks for [${expected.join(', ')}]`,
    );
  }
}

/** Copies of other values that some exporters write: a tied head, and rotary frequencies of old versions. */
function isHarmlessExtra(name: string, config: DecoderConfig): boolean {
  return (name === 'lm_head.weight' && config.tieWordEmbeddings) || name.endsWith('.rotary_emb.inv_freq');
}

function briefList(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

function invalid(message: string): EngineError {
  return new EngineError('checkpoint_invalid', message);
}
