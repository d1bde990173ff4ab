/** The quantised matrices of a model. They are made once and kept in a file, from which sessions are made. */
import { createHash, type Hash } from 'node:crypto';
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { fileIdentity, readUpTo } from '../support/boundedFile.js';
import { EngineError } from '../engine.js';
import { allFinite } from '../support/finite.js';
import { partialName, removeLeftovers } from '../support/partial.js';
import { elementCount, sum } from '../support/numbers.js';
import type { DecoderConfig } from './config.js';
import { packedSizes, quantize, type QuantizedFormat } from './quantization.js';
import { constantName, type ConstantBytes, type QuantizedWeights } from './servingWeights.js';
import { decoderWeightShapes, embeddingName, headName, type WeightReader } from './weights.js';

/** Increment it whenever the bytes change. */
const fileVersion = 2;
const digestBytes = 32;
const blockBytes = 2 ** 20;

interface Source {
  readonly config: DecoderConfig;
  readonly reader: WeightReader;
  /** The checkpoint's hash, `sha256:<hex>`. */
  readonly contentHash: string;
}

/**
 * Loads the quantised weights of a checkpoint: from `folder` if they are there and intact, otherwise by making and
 * storing them. Without a folder they are made every time and stay in memory. A folder that cannot be written costs
 * time and memory, but not the model; the process warns.
 * @throws EngineError `checkpoint_invalid` naming a tensor with a number that is not finite.
 */
export async function loadQuantizedWeights(
  source: Source,
  format: QuantizedFormat,
  folder: string | undefined,
): Promise<QuantizedWeights> {
  if (folder === undefined) return quantizedInMemory(source, format);
  const file = path.join(folder, `${source.contentHash.replace(':', '-')}.${format}.v${fileVersion}`);
  try {
    await mkdir(folder, { recursive: true });
    await removeLeftovers(folder);
    const identity = (await identityOfWhole(file, source, format)) ?? (await writeFile(file, source, format));
    return new QuantizedFile(file, source, format, identity);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    process.emitWarning(`The quantised weights are made at every start, as they cannot be kept: ${reason}`);
    return quantizedInMemory(source, format);
  }
}

class QuantizedFile implements QuantizedWeights {
  /** The byte range of each constant by its name. */
  private readonly places = new Map<string, readonly [number, number]>();

  constructor(
    private readonly file: string,
    private readonly source: Source,
    readonly format: QuantizedFormat,
    /** Identity of the file when it was last found intact, see `fileIdentity`. */
    private identity: string,
  ) {
    let start = digestBytes;
    for (const [name, bytes] of layout(source.config, format)) this.places.set(name, [start, (start += bytes)]);
  }

  async *bytes(name: string): AsyncGenerator<Uint8Array> {
    const [start, end] = this.places.get(name) ?? [0, 0];
    const handle = await this.open();
    try {
      if (fileIdentity(await handle.stat()) !== this.identity) await this.requireWhole();
      yield* readBytes(handle, start, end);
    } finally {
      await handle.close();
    }
  }

  private async open(): Promise<FileHandle> {
    return open(this.file, 'r').catch(() => {
      throw this.gone();
    });
  }

  /** Another process that started at the same time may have replaced the file with the same bytes. */
  private async requireWhole(): Promise<void> {
    const identity = await identityOfWhole(this.file, this.source, this.format);
    if (identity === undefined) throw this.gone();
    this.identity = identity;
  }

  private gone(): EngineError {
    const message = `${this.file} is not whole any more; the engine must be started again`;
    return new EngineError('checkpoint_invalid', message);
  }
}

async function quantizedInMemory(source: Source, format: QuantizedFormat): Promise<QuantizedWeights> {
  const constants: ConstantBytes = new Map(await collect(quantizeWeights(source, format)));
  return {
    format,
    bytes: async function* (name) {
      yield await Promise.resolve(constants.get(name) ?? new Uint8Array());
    },
  };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The size of all constants of a model together. */
export function quantizedBytes(config: DecoderConfig, format: QuantizedFormat): number {
  return sum(layout(config, format).map(([, bytes]) => bytes));
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

/** The matrices that are factors of products: all except an embedding that is not also the head. */
export function matrices(config: DecoderConfig): readonly (readonly [string, readonly [number, number]])[] {
  return [...decoderWeightShapes(config)].flatMap(([name, [out, width]]) => {
    if (out === undefined || width === undefined || (name === embeddingName && headName(config) !== embeddingName))
      return [];
    return [[name, [out, width]] as const];
  });
}

/**
 * Yields the constants in the order of the file, one matrix at a time, so that the matrices are never all in memory as
 * float32.
 */
async function* quantizeWeights(
  { config, reader }: Source,
  format: QuantizedFormat,
): AsyncGenerator<readonly [string, Uint8Array]> {
  const buffer = new Float32Array(Math.max(...matrices(config).map(([, shape]) => elementCount(shape))));
  for (const [name, shape] of matrices(config)) {
    const data = buffer.subarray(0, elementCount(shape));
    await reader.read(new Map([[name, data]]));
    // A scale that is not finite would spoil all numbers of its block.
    if (!allFinite(data)) {
      throw new EngineError(
        'checkpoint_invalid',
        `${name} holds a value that is not finite, which ${format} has no code for`,
      );
    }
    const { quantized, scales } = quantize(format, data, shape[1]);
    yield [constantName(name, 'quantized'), quantized];
    yield [constantName(name, 'scales'), new Uint8Array(scales.buffer)];
  }
}

/** Gives `undefined` when the file is missing or incomplete. */
async function identityOfWhole(file: string, source: Source, format: QuantizedFormat): Promise<string | undefined> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    const bytes = digestBytes + quantizedBytes(source.config, format);
    if (stats.size !== bytes) return undefined;
    const hash = startDigest(source, format);
    for await (const block of readBytes(handle, digestBytes, bytes)) hash.update(block);
    const digest = await readUpTo(handle, 0, digestBytes);
    return hash.digest().equals(digest) ? fileIdentity(stats) : undefined;
  } finally {
    await handle.close();
  }
}

/** Writes under a temporary name first, so that a crash leaves either the whole file or none of this name. */
async function writeFile(file: string, source: Source, format: QuantizedFormat): Promise<string> {
  const partial = partialName(file);
  try {
    const handle = await open(partial, 'wx');
    let identity: string;
    try {
      const hash = startDigest(source, format);
      let end = digestBytes;
      for await (const [, bytes] of quantizeWeights(source, format)) {
        hash.update(bytes);
        await writeBytes(handle, bytes, end);
        end += bytes.byteLength;
      }
      await writeBytes(handle, hash.digest(), 0);
      await handle.sync();
      identity = fileIdentity(await handle.stat());
    } finally {
      await handle.close();
    }
    await rename(partial, file);
    return identity;
  } finally {
    await rm(partial, { force: true });
  }
}

/** The digest covers the file's identity as well, so that no file is mistaken for another. */
function startDigest({ contentHash }: Source, format: QuantizedFormat): Hash {
  return createHash('sha256').update(`${contentHash} ${format} ${fileVersion}\n`);
}

async function* readBytes(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(Math.min(blockBytes, end - start));
  for (let at = start; at < end; at += buffer.byteLength) {
    yield await readUpTo(handle, at, Math.min(buffer.byteLength, end - at), buffer);
  }
}

async function writeBytes(handle: FileHandle, bytes: Uint8Array, start: number): Promise<void> {
  let done = 0;
  while (done < bytes.byteLength) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.byteLength - done, start + done);
    done += bytesWritten;
  }
}
