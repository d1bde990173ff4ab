/** The matrices of a model in blocks, made once and kept in a file. */
import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { readUpTo } from '../checkpoint/boundedFile.js';
import { EngineError } from '../engine.js';
import { allFinite } from '../finite.js';
import { partialName, removeLeftovers } from '../partial.js';
import type { DecoderConfig } from './config.js';
import { packedSizes, quantize, type QuantizedFormat } from './quantization.js';
import { constantName, type ConstantBytes, type QuantizedWeights } from './servingWeights.js';
import { decoderWeightShapes, EMBEDDING, headName, sizeOf, type WeightReader } from './weights.js';

/** Changes with everything that changes the bytes. */
const FILE_VERSION = 1;
const DIGEST_BYTES = 32;

interface Source {
  readonly config: DecoderConfig;
  readonly reader: WeightReader;
  /** Of the checkpoint, `sha256:<hex>`. */
  readonly contentHash: string;
}

/**
 * The quantised weights of a checkpoint: out of `folder` if they are there and whole, otherwise made, and kept there for
 * the next time. With no folder they are made every time. A folder that cannot be written costs time, not the model, and a
 * warning of the process.
 * @throws EngineError `checkpoint_invalid` naming a tensor that holds a number which is not finite.
 */
export async function loadQuantizedWeights(
  source: Source,
  format: QuantizedFormat,
  folder: string | undefined,
): Promise<QuantizedWeights> {
  if (folder === undefined) return { format, constants: await quantizeWeights(source, format) };
  const file = path.join(folder, `${source.contentHash.replace(':', '-')}.${format}.v${FILE_VERSION}`);
  await orWarn(openFolder(folder));
  const kept = await readConstants(file, source, format);
  if (kept !== undefined) return { format, constants: kept };
  const constants = await quantizeWeights(source, format);
  const digest = digestOf(source, format, constants.values());
  await orWarn(writeConstants(file, [...constants.values()], digest));
  return { format, constants };
}

async function openFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await removeLeftovers(folder);
}

async function orWarn(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.emitWarning(`The quantised weights are made at every start, as they cannot be kept: ${reason}`);
  }
}

/** Names and sizes in bytes of the constants, in the order of the file. */
function layout(config: DecoderConfig, format: QuantizedFormat): readonly (readonly [string, number])[] {
  return matrices(config).flatMap(([name, [out, width]]) => {
    const { blocks, blockBytes } = packedSizes(format, width);
    const scaleBytes = out * blocks * Float32Array.BYTES_PER_ELEMENT;
    return [
      [constantName(name, 'quantized'), out * blocks * blockBytes] as const,
      [constantName(name, 'scales'), scaleBytes] as const,
    ];
  });
}

/** The matrices that are multiplied with: all but an embedding that is no head. */
function matrices(config: DecoderConfig): readonly (readonly [string, readonly [number, number]])[] {
  return [...decoderWeightShapes(config)].flatMap(([name, [out, width]]) => {
    if (out === undefined || width === undefined || (name === EMBEDDING && headName(config) !== EMBEDDING)) return [];
    return [[name, [out, width]] as const];
  });
}

/** One matrix after the other, so that they are never all in memory as float32. */
async function quantizeWeights({ config, reader }: Source, format: QuantizedFormat): Promise<ConstantBytes> {
  const constants = new Map<string, Uint8Array>();
  const room = new Float32Array(Math.max(...matrices(config).map(([, shape]) => sizeOf(shape))));
  for (const [name, shape] of matrices(config)) {
    const [, width] = shape;
    const data = room.subarray(0, sizeOf(shape));
    await reader.read(new Map([[name, data]]));
    // A scale that is not finite would spoil all numbers of its block.
    if (!allFinite(data)) {
      throw new EngineError(
        'checkpoint_invalid',
        `${name} holds a value that is not finite, which ${format} has no code for`,
      );
    }
    const { quantized, scales } = quantize(format, data, width);
    constants.set(constantName(name, 'quantized'), quantized);
    constants.set(constantName(name, 'scales'), new Uint8Array(scales.buffer));
  }
  return constants;
}

/** `undefined` when there is no such file, or not all of it. */
async function readConstants(
  file: string,
  source: Source,
  format: QuantizedFormat,
): Promise<ConstantBytes | undefined> {
  const constants = new Map<string, Uint8Array>();
  try {
    const handle = await open(file, 'r');
    try {
      const digest = await readUpTo(handle, 0, DIGEST_BYTES);
      let start = DIGEST_BYTES;
      for (const [name, bytes] of layout(source.config, format)) {
        constants.set(name, await readUpTo(handle, start, bytes));
        start += bytes;
      }
      const whole = digestOf(source, format, constants.values()).equals(digest);
      return whole ? constants : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

/** Under a temporary name first: a crash leaves either the whole file or none of this name. */
async function writeConstants(file: string, chunks: readonly Uint8Array[], digest: Uint8Array): Promise<void> {
  const partial = partialName(file);
  try {
    const handle = await open(partial, 'wx');
    try {
      for (const chunk of [digest, ...chunks]) await handle.appendFile(chunk);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}

/** Over the identity of the file as well, so that it is not taken for another's. */
function digestOf({ contentHash }: Source, format: QuantizedFormat, chunks: Iterable<Uint8Array>): Buffer {
  const hash = createHash('sha256').update(`${contentHash} ${format} ${FILE_VERSION}\n`);
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest();
}
