/** Makes a checkpoint folder from a GGUF file. */
import { mkdir, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { buildFolder, writeSynced } from '../support/folders.js';
import { readUpTo } from '../support/boundedFile.js';
import { isMissingFile, JsonFields, type JsonObject } from '../checkpoint/jsonFields.js';
import { parseModelConfig } from '../checkpoint/modelConfig.js';
import { EngineError } from '../engine.js';
import { weightCount } from '../model/weights.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import { sum } from '../support/numbers.js';
import { decodeBlocks } from './blockFormats.js';
import { embeddingSizes, findRopeFactors, ggufConfig, readArchitecture } from './ggufConfig.js';
import { withGguf, type GgufFile } from './ggufFile.js';
import { ggufTokenizerFiles, json } from './ggufTokenizer.js';
import { planTensors, type PlannedTensor } from './tensorNames.js';
import { readVocabulary } from './vocabulary.js';
import { writeWeights, type ImportPrecision } from './writeWeights.js';

export interface ImportOptions {
  readonly file: string;
  /** A new folder. It and its missing parents are created. */
  readonly folder: string;
  /** By default `exact`. */
  readonly precision?: ImportPrecision;
  /** Replaces the file's own template, which base models lack. */
  readonly chatTemplate?: string;
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Aborting it rejects with `cancelled` and leaves nothing of the folder. */
  readonly signal?: AbortSignal;
}

/** In bytes of the file's tensors. */
export interface ImportProgress {
  readonly done: number;
  readonly total: number;
}

export interface ImportedModel {
  /** Absolute. */
  readonly folder: string;
  /** The class name in `config.json`, for instance `LlamaForCausalLM`. */
  readonly architecture: string;
  readonly parameters: number;
  /** The context length in tokens. */
  readonly contextLength: number;
  /** The number of tensors that the file stored in each type. */
  readonly tensorTypes: Readonly<Record<string, number>>;
  /** The size of `model.safetensors`. */
  readonly weightBytes: number;
}

/**
 * Writes a Hugging Face folder with the weights, configuration, tokenizer and chat template from a GGUF file of a
 * Llama, Mistral, Qwen2 or Qwen3. Checks everything that can be refused before it writes weights. Removes a folder that
 * could not be finished.
 *
 * @throws EngineError `checkpoint_invalid` naming the file and the field or tensor; `invalid_request` when the folder
 *   exists already; `storage_full`; `cancelled`.
 */
export async function importGguf(options: ImportOptions): Promise<ImportedModel> {
  const folder = resolve(options.folder);
  if (await exists(folder)) throw new EngineError('invalid_request', `${folder} exists already; name a new folder`);
  return withGguf(options.file, async (gguf, handle) => {
    const plan = await planImport(gguf, handle, options);
    await buildFolder(folder, (partial) => writeImport(partial, plan, handle, options));
    const weights = await stat(join(folder, weightsFile));
    return {
      folder,
      architecture: plan.architecture,
      parameters: plan.parameters,
      contextLength: plan.contextLength,
      tensorTypes: countTypes(plan.tensors),
      weightBytes: weights.size,
    };
  });
}

const weightsFile = 'model.safetensors';

interface ImportPlan {
  /** How error messages name the file. */
  readonly source: string;
  readonly architecture: string;
  readonly parameters: number;
  readonly contextLength: number;
  readonly tensors: readonly PlannedTensor[];
  /** Contents of the small files by name. */
  readonly files: Readonly<Record<string, string>>;
}

async function planImport(
  gguf: GgufFile,
  handle: FileHandle,
  { precision = 'exact', chatTemplate }: ImportOptions,
): Promise<ImportPlan> {
  const { metadata } = gguf;
  readArchitecture(metadata);
  const factors = await readFactors(gguf, handle);
  const vocabulary = readVocabulary(metadata, embeddingSizes(gguf).vocabularySize);
  const config: JsonObject = { ...ggufConfig(gguf, vocabulary.ids, factors), dtype: dtypeOf(gguf, precision) };
  const { architectureName, decoder } = parseModelConfig(new JsonFields(`${metadata.source} as config.json`, config));
  return {
    source: metadata.source,
    architecture: architectureName,
    parameters: weightCount(decoder),
    contextLength: decoder.contextLength,
    tensors: planTensors(gguf, decoder),
    files: {
      'config.json': json(config),
      ...ggufTokenizerFiles(metadata, vocabulary, decoder.contextLength, chatTemplate),
    },
  };
}

/** The type that Python's tools are to compute in: that of the matrices, if they have one. */
function dtypeOf({ tensors }: GgufFile, precision: ImportPrecision): string {
  const matrices = tensors.filter(({ shape }) => shape.length > 1).map(({ format }) => format.exactType);
  const [type = 'F32', ...others] = precision === 'F16' ? [precision] : new Set(matrices);
  return others.length > 0 ? dtypes.F32 : dtypes[type];
}

const dtypes = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' } as const;

async function readFactors(gguf: GgufFile, handle: FileHandle): Promise<Float32Array | null> {
  const tensor = findRopeFactors(gguf);
  if (tensor === undefined) return null;
  const bytes = await readUpTo(handle, tensor.start, tensor.end - tensor.start);
  const factors = new Float32Array(bytes.byteLength / tensor.format.bytes);
  decodeBlocks(tensor.format, bytes, factors);
  return factors;
}

async function writeImport(
  folder: string,
  { source, tensors, files }: ImportPlan,
  handle: FileHandle,
  { precision = 'exact', onProgress, signal }: ImportOptions,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeSynced(join(folder, name), Buffer.from(text));
  }
  await checkTokenizer(folder, source);
  const total = sum(tensors.map((tensor) => tensor.source.end - tensor.source.start));
  let done = 0;
  const onBytes = (bytes: number): void => {
    done += bytes;
    onProgress?.({ done, total });
  };
  await writeWeights(join(folder, weightsFile), { handle, source, tensors, precision, onBytes, signal });
}

/** Loads it as the engine will. */
async function checkTokenizer(folder: string, source: string): Promise<void> {
  try {
    await ChatTokenizer.load(folder);
  } catch (cause) {
    if (!(cause instanceof EngineError)) throw cause;
    throw new EngineError(cause.code, `${source}: what its tokenizer becomes is refused: ${cause.message}`, { cause });
  }
}

function countTypes(tensors: readonly PlannedTensor[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { source } of tensors) counts[source.format.name] = (counts[source.format.name] ?? 0) + 1;
  return counts;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    return !isMissingFile(error);
  }
}

/** The default folder for an imported file: beside it, with its name. */
export function importFolder(file: string): string {
  const path = resolve(file);
  return join(dirname(path), basename(path).replace(/\.gguf$/i, '') || 'model');
}
