/**
 * The matrices of a model in blocks, made once and kept in a file, out of which they are read when a session is made.
 */
import { createHash, type Hash } from 'node:crypto';
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { fileIdentity, readUpTo } from '../checkpoint/boundedFile.js';
import { EngineError } from '../engine.js';
import { allFinite } from '../finite.js';
import { partialName, removeLeftovers } from '../partial.js';
import type { DecoderConfig } from './config.js';
import { packedSizes, quantize, type QuantizedFormat } from './quantization.js';
import { constantName, type ConstantBytes, type QuantizedWeights } from './servingWeights.js';
import { decoderWeightShapes, EMBEDDING, headName, sizeOf, type WeightReader } from './weights.js';

/** Changes with everything that changes the bytes. */
const FILE_VERSION = 2;
const DIGEST_BYTES = 32;
const BLOCK_BYTES = 2 ** 20;

interface Source {
  readonly config: DecoderConfig;
  readonly reader: WeightReader;
  /** The checkpoint's hash, `sha256:<hex>`. */
  readonly contentHash: string;
}

/**
 * The quantised weights of a checkpoint: in `folder` if they are there and whole, otherwise made, and kept there for
 * the next time. With no folder they are made every time, and stay in memory. A folder that cannot be written costs
 * time and memory, not the model, and a warning of the process.
 * @throws EngineError `checkpoint_invalid` naming a tensor that holds a number which is not finite.
 */
export async function loadQuantizedWeights(
  source: Source,
  format: QuantizedFormat,
  folder: string | undefined,
): Promise<QuantizedWeights> {
  if (folder === undefined) return quantizedInMemory(source, format);
  const file = path.join(folder, `${source.contentHash.replace(':', '-')}.${format}.v${FILE_VERSION}`);
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
  /** Where the constants begin and end, by their names. */
  private readonly places = new Map<string, readonly [number, number]>();

  constructor(
    private readonly file: string,
    private readonly source: Source,
    readonly format: QuantizedFormat,
    /** Identity of the file when it was last found to be whole, see `fileIdentity`. */
    private identity: string,
  ) {
    let start = DIGEST_BYTES;
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

  /** Another process that began at the same time may have put the same bytes in its place. */
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

/** Size of all constants of a model together. */
export function quantizedBytes(config: DecoderConfig, format: QuantizedFormat): number {
  return layout(config, format).reduce((sum, [, bytes]) => sum + bytes, 0);
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
export function matrices(config: DecoderConfig): readonly (readonly [string, readonly [number, number]])[] {
  return [...decoderWeightShapes(config)].flatMap(([name, [out, width]]) => {
    if (out === undefined || width === undefined || (name === EMBEDDING && headName(config) !== EMBEDDING)) return [];
    return [[name, [out, width]] as const];
  });
}

/**
 * Yields the constants in the order of the file, one matrix after the other, so that the matrices are never all in
 * memory as float32.
 */
async function* quantizeWeights(
  { config, reader }: Source,
  format: QuantizedFormat,
): AsyncGenerator<readonly [string, Uint8Array]> {
  const room = new Float32Array(Math.max(...matrices(config).map(([, shape]) => sizeOf(shape))));
  for (const [name, shape] of matrices(config)) {
    const data = room.subarray(0, sizeOf(shape));
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

/** `undefined` when there is no such file, or not all of it. */
async function identityOfWhole(file: string, source: Source, format: QuantizedFormat): Promise<string | undefined> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    const bytes = DIGEST_BYTES + quantizedBytes(source.config, format);
    if (stats.size !== bytes) return undefined;
    const hash = startDigest(source, format);
    for await (const block of readBytes(handle, DIGEST_BYTES, bytes)) hash.update(block);
    const digest = await readUpTo(handle, 0, DIGEST_BYTES);
    return hash.digest().equals(digest) ? fileIdentity(stats) : undefined;
  } finally {
    await handle.close();
  }
}

/** Under a temporary name first: a crash leaves either the whole file or none of this name. */
async function writeFile(file: string, source: Source, format: QuantizedFormat): Promise<string> {
  const partial = partialName(file);
  try {
    const handle = await open(partial, 'wx');
    let identity: string;
    try {
      const hash = startDigest(source, format);
      let end = DIGEST_BYTES;
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

/** Over the identity of the file as well, so that it is not taken for another's. */
function startDigest({ contentHash }: Source, format: QuantizedFormat): Hash {
  return createHash('sha256').update(`${contentHash} ${format} ${FILE_VERSION}\n`);
}

async function* readBytes(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  const room = new Uint8Array(Math.min(BLOCK_BYTES, end - start));
  for (let at = start; at < end; at += room.byteLength) {
    yield await readUpTo(handle, at, Math.min(room.byteLength, end - at), room);
  }
}

async function writeBytes(handle: FileHandle, bytes: Uint8Array, start: number): Promise<void> {
  let done = 0;
  while (done < bytes.byteLength) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.byteLength - done, start + done);
    done += bytesWritten;
  }
}
