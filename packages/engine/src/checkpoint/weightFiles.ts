import { stat, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import {
  decoderWeightShapes,
  embeddingName,
  readWeights,
  weightBytes,
  type DecoderWeights,
  type WeightReader,
} from '../model/weights.js';
import { machineMemory } from '../support/machineMemory.js';
import { abbreviate } from '../support/abbreviate.js';
import { fileIdentity, openRegularFile, type ErrorContext } from '../support/boundedFile.js';
import { shardIndexFile, singleWeightsFile } from './checkpointFiles.js';
import { isMissingFile, JsonFields } from './jsonFields.js';
import { readBlocks, readByteBlocks, readHeader, readTensor, type TensorEntry } from './safetensors.js';

/** The head's weight in a model without tied embeddings. */
const untiedHeadName = 'lm_head.weight';

/**
 * Names of a checkpoint's weight files, one or several shards, in alphabetical order. As in `transformers`, a single
 * file comes before an index, because joining shards may leave their index behind.
 */
export async function findWeightFiles(modelDir: string): Promise<readonly string[]> {
  if (await exists(join(modelDir, singleWeightsFile))) return [singleWeightsFile];
  const index = await JsonFields.readOptional(join(modelDir, shardIndexFile), shardIndexFile);
  if (index === undefined) return [singleWeightsFile];
  const map = index.nested('weight_map');
  if (map === undefined) throw index.refusal('weight_map', 'an object');
  const files = new Set(Object.keys(map.raw).map((tensor) => map.string(tensor)));
  if (files.size === 0) throw index.refusal('weight_map', 'an object with the file of each tensor');
  for (const file of files) {
    // A name that contains a path could reach outside the checkpoint.
    if (file !== basename(file) || !file.endsWith('.safetensors')) {
      throw new EngineError('checkpoint_invalid', `${shardIndexFile}: ${abbreviate(file)} is not a file name`);
    }
  }
  return [...files].sort();
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    // A file that exists but cannot be read is refused by name when it is opened.
    return !isMissingFile(error);
  }
}

/**
 * Opens the tensors that `config` asks for, to be read when needed. Checks all names and shapes against the files'
 * headers first, so that a wrong checkpoint costs no memory. Also checks the memory needed, because a sparse file may
 * claim any size.
 * @param needed bytes of memory that the caller keeps the weights in.
 * @throws EngineError `checkpoint_invalid` naming the tensor, or the memory needed and available.
 */
export async function openWeights(
  modelDir: string,
  config: DecoderConfig,
  needed = weightBytes(config),
  memoryBytes = machineMemory(),
): Promise<WeightReader> {
  const files = await findWeightFiles(modelDir);
  const shapes = decoderWeightShapes(config);
  const found = new Map<string, string>();
  const opened = new Map<string, OpenedFile>();
  for (const file of files) {
    const { identity, entries } = await inFile(modelDir, file, readIdentified);
    for (const entry of entries) {
      if (found.has(entry.name)) throw invalid(`${file}: ${entry.name} is in ${found.get(entry.name) ?? ''} too`);
      found.set(entry.name, file);
      checkEntry(file, entry, shapes, config);
    }
    opened.set(file, { identity, entries });
  }
  const missing = [...shapes.keys()].filter((name) => !found.has(name));
  if (missing.length > 0) throw invalid(`${files.join(', ')}: tensors are missing: ${briefList(missing)}`);

  if (needed > memoryBytes) {
    throw invalid(`${files.join(', ')}: the weights take ${needed} bytes of memory, and there are ${memoryBytes}`);
  }

  if (config.tieWordEmbeddings && found.has(untiedHeadName)) await requireTied(modelDir, opened);
  return weightReader(modelDir, opened);
}

/** Reads all tensors that `config` asks for, see `openWeights`. */
export async function loadWeights(
  modelDir: string,
  config: DecoderConfig,
  memoryBytes = machineMemory(),
): Promise<DecoderWeights> {
  return readWeights(
    await openWeights(modelDir, config, weightBytes(config), memoryBytes),
    decoderWeightShapes(config),
  );
}

interface OpenedFile {
  /** See `fileIdentity`. */
  readonly identity: string;
  readonly entries: readonly TensorEntry[];
}

/** Opened files by name. */
type OpenedFiles = ReadonlyMap<string, OpenedFile>;

function weightReader(modelDir: string, opened: OpenedFiles): WeightReader {
  return {
    read: async (places) => {
      for (const [file, { identity, entries }] of opened) {
        const wanted = entries.filter(({ name }) => places.has(name));
        if (wanted.length === 0) continue;
        await inFile(modelDir, file, async (handle, context) => {
          await requireSame(handle, identity, context);
          for (const entry of wanted) {
            const place = places.get(entry.name);
            if (place !== undefined) await readTensor(handle, entry, context, place);
          }
        });
      }
    },
    blocks: (name) => blocksOf(modelDir, opened, name, readBlocks),
  };
}

async function* blocksOf<T>(
  modelDir: string,
  opened: OpenedFiles,
  name: string,
  readBlocksOf: (handle: FileHandle, entry: TensorEntry, context: ErrorContext) => AsyncIterable<T>,
): AsyncGenerator<T, undefined> {
  for (const [file, { identity, entries }] of opened) {
    const entry = entries.find((each) => each.name === name);
    if (entry === undefined) continue;
    const { handle, context } = await openFile(modelDir, file);
    try {
      await requireSame(handle, identity, context);
      yield* readBlocksOf(handle, entry, context);
    } finally {
      await handle.close();
    }
    return;
  }
  throw new EngineError('internal', `the model has no ${name}`);
}

/**
 * Many files hold a copy of the embedding as their head, which is not needed. A different head would be the model's
 * own, and the embedding in its place would give wrong logits. If both have the same type, their bytes are compared,
 * which is faster than hashing the file.
 */
async function requireTied(modelDir: string, opened: OpenedFiles): Promise<void> {
  const entries = [...opened.values()].flatMap((file) => file.entries);
  const [head, embedding] = [untiedHeadName, embeddingName].map((name) => entries.find((entry) => entry.name === name));
  const read = head?.type === embedding?.type ? readByteBlocks : readBlocks;
  const ofHead = blocksOf<Uint8Array | Float32Array>(modelDir, opened, untiedHeadName, read);
  try {
    for await (const block of blocksOf<Uint8Array | Float32Array>(modelDir, opened, embeddingName, read)) {
      const { value } = await ofHead.next();
      if (value !== undefined && bytesOf(value).equals(bytesOf(block))) continue;
      throw invalid(
        `config.json: tie_word_embeddings must be false, as ${untiedHeadName} differs from ${embeddingName}, but is true`,
      );
    }
  } finally {
    await ofHead.return(undefined);
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

type FileTask<T> = (handle: FileHandle, context: ErrorContext) => Promise<T>;

const readIdentified: FileTask<OpenedFile> = async (handle, context) => {
  const identity = fileIdentity(await handle.stat());
  return { identity, entries: await readHeader(handle, context) };
};

/** Refuses a file that has changed: what is read must fit what was read before. */
async function requireSame(handle: FileHandle, identity: string, { file }: ErrorContext): Promise<void> {
  if (fileIdentity(await handle.stat()) === identity) return;
  throw invalid(`${file} has changed since the model was opened; the engine must be started again`);
}

async function inFile<T>(modelDir: string, file: string, task: FileTask<T>): Promise<T> {
  const { handle, context } = await openFile(modelDir, file);
  try {
    return await task(handle, context);
  } finally {
    await handle.close();
  }
}

/** The caller closes it. */
async function openFile(
  modelDir: string,
  file: string,
): Promise<{ readonly handle: FileHandle; readonly context: ErrorContext }> {
  const context = { code: 'checkpoint_invalid', file } as const;
  const opened = await openRegularFile(join(modelDir, file), context);
  if (opened === undefined) throw invalid(`${file} is missing`);
  return { handle: opened.handle, context };
}

function checkEntry(
  file: string,
  entry: TensorEntry,
  shapes: ReadonlyMap<string, readonly number[]>,
  config: DecoderConfig,
): void {
  const isCopy = entry.name === untiedHeadName && config.tieWordEmbeddings;
  const expected = shapes.get(isCopy ? embeddingName : entry.name);
  if (expected === undefined) {
    // Rotary frequencies. Old exporters wrote them, though they follow from the configuration.
    if (entry.name.endsWith('.rotary_emb.inv_freq')) return;
    throw invalid(`${file}: the tensor ${entry.name} is not part of a ${config.architecture} decoder of this shape`);
  }
  if (expected.join() !== entry.shape.join()) {
    throw invalid(
      `${file}: ${entry.name} has shape [${entry.shape.join(', ')}], but config.json asks for [${expected.join(', ')}]`,
    );
  }
}

function briefList(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

function invalid(message: string): EngineError {
  return new EngineError('checkpoint_invalid', message);
}
