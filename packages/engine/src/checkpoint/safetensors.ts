/**
 * The safetensors format: 8 bytes of header length, a JSON header, then the tensors' bytes
 * (https://huggingface.co/docs/safetensors). Files come from outside, so nothing in a header is trusted before it is
 * checked. Lengths are bounded, and the tensors must tile the data without gap or overlap.
 */
import type { FileHandle } from 'node:fs/promises';
import { EngineError } from '../engine.js';
import { readUpTo, type ErrorContext } from '../support/boundedFile.js';
import { abbreviate } from '../support/abbreviate.js';
import { elementCount } from '../support/numbers.js';
import { halfToNumber, toHalves } from './halfPrecision.js';

/** The reference implementation's limit. */
const maxHeaderBytes = 100_000_000;
const elementBytes = { F32: 4, F16: 2, BF16: 2 } as const;
export type ElementType = keyof typeof elementBytes;

export interface TensorEntry {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** Byte range in the file. */
  readonly start: number;
  readonly end: number;
}

/** A tensor to write, row-major float32. */
export interface FloatTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** The tensors of an open file in the order of their bytes. The caller closes the file. */
export async function readHeader(file: FileHandle, context: ErrorContext): Promise<readonly TensorEntry[]> {
  const { size } = await file.stat();
  const prefix = await readBytes(file, 0, Math.min(8, size), context);
  const header = await readBytes(file, 8, headerLength(prefix, size, context), context);
  return parseHeader(header, size, context);
}

/** The texts that a file says about itself, by their names. Others than texts are left out. */
export async function readMetadata(
  file: FileHandle,
  context: ErrorContext,
): Promise<Readonly<Record<string, string | undefined>>> {
  const { size } = await file.stat();
  const prefix = await readBytes(file, 0, Math.min(8, size), context);
  const header = parseJson(await readBytes(file, 8, headerLength(prefix, size, context), context), context);
  const { __metadata__: metadata } = header;
  if (!isRecord(metadata)) return {};
  const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string';
  return Object.fromEntries(Object.entries(metadata).filter(isText));
}

/** Like `readHeader`, for a file in memory. */
export function readHeaderFrom(bytes: Uint8Array, context: ErrorContext): readonly TensorEntry[] {
  const length = headerLength(bytes.subarray(0, 8), bytes.byteLength, context);
  return parseHeader(bytes.subarray(8, 8 + length), bytes.byteLength, context);
}

/** Reads one tensor as float32 into `place`, which has its length. F16 and BF16 are widened. */
export async function readTensor(
  file: FileHandle,
  entry: TensorEntry,
  context: ErrorContext,
  place: Float32Array,
): Promise<void> {
  const length = entry.end - entry.start;
  if (length !== place.length * elementBytes[entry.type]) throw damaged(context, 'it has changed while it was read');
  if (entry.type !== 'F32') {
    widen(entry.type, await readBytes(file, entry.start, length, context), place);
    return;
  }
  const bytes = new Uint8Array(place.buffer, place.byteOffset, place.byteLength);
  await readBytes(file, entry.start, length, context, bytes);
}

/** Yields a tensor as float32 in blocks of at most `blockLength` numbers. All blocks share the same memory. */
export async function* readBlocks(
  file: FileHandle,
  entry: TensorEntry,
  context: ErrorContext,
  blockLength = 2 ** 18,
): AsyncGenerator<Float32Array> {
  const bytes = elementBytes[entry.type];
  const buffer = new Float32Array(Math.min(blockLength, (entry.end - entry.start) / bytes));
  for (let start = entry.start; start < entry.end; start += blockLength * bytes) {
    const end = Math.min(entry.end, start + blockLength * bytes);
    const block = buffer.subarray(0, (end - start) / bytes);
    await readTensor(file, { ...entry, start, end }, context, block);
    yield block;
  }
}

/** Yields the bytes of a tensor as stored. All blocks share the same memory. */
export async function* readByteBlocks(
  file: FileHandle,
  entry: TensorEntry,
  context: ErrorContext,
): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(Math.min(2 ** 20, entry.end - entry.start));
  for (let start = entry.start; start < entry.end; start += buffer.byteLength) {
    yield await readBytes(file, start, Math.min(buffer.byteLength, entry.end - start), context, buffer);
  }
}

/** Like `readTensor`, for a file in memory. The result shares that memory if it can. */
export function readTensorFrom(bytes: Uint8Array, entry: TensorEntry): Float32Array {
  const start = bytes.byteOffset + entry.start;
  const length = (entry.end - entry.start) / Float32Array.BYTES_PER_ELEMENT;
  if (entry.type === 'F32' && start % Float32Array.BYTES_PER_ELEMENT === 0) {
    return new Float32Array(bytes.buffer, start, length);
  }
  const own = new Uint8Array(bytes.subarray(entry.start, entry.end));
  if (entry.type === 'F32') return new Float32Array(own.buffer);
  const result = new Float32Array(own.byteLength / elementBytes[entry.type]);
  widen(entry.type, own, result);
  return result;
}

/** Serialises tensors in the given order, as float32 or rounded to F16. Equal tensors and metadata give equal bytes. */
export function serializeSafetensors(
  tensors: Iterable<readonly [string, FloatTensor]>,
  metadata: Readonly<Record<string, string>>,
  type: 'F32' | 'F16' = 'F32',
): Buffer {
  const entries: TensorSize[] = [];
  const chunks: Uint8Array[] = [];
  for (const [name, { shape, data }] of tensors) {
    const { buffer, byteOffset, byteLength } = type === 'F32' ? data : toHalves(data);
    entries.push({ name, type, shape });
    chunks.push(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return Buffer.concat([serializeHeader(entries, metadata), ...chunks]);
}

export type TensorSize = Pick<TensorEntry, 'name' | 'type' | 'shape'>;

/** The beginning of a file whose tensors follow in this order without a gap. */
export function serializeHeader(tensors: readonly TensorSize[], metadata: Readonly<Record<string, string>>): Buffer {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const { name, type, shape } of tensors) {
    const end = offset + tensorBytes({ type, shape });
    header[name] = { dtype: type, shape, data_offsets: [offset, end] };
    offset = end;
  }
  // Padding with spaces aligns the tensors for readers that map the file.
  const json = Buffer.from(JSON.stringify(header), 'utf8');
  const padded = Buffer.alloc(Math.ceil(json.byteLength / 8) * 8, ' ');
  json.copy(padded);
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(padded.byteLength));
  return Buffer.concat([prefix, padded]);
}

export function tensorBytes({ type, shape }: Omit<TensorSize, 'name'>): number {
  return elementCount(shape) * elementBytes[type];
}

function headerLength(prefix: Uint8Array, fileSize: number, context: ErrorContext): number {
  if (prefix.byteLength < 8) throw damaged(context, 'it is shorter than the header length');
  const length = new DataView(prefix.buffer, prefix.byteOffset, 8).getBigUint64(0, true);
  if (length > BigInt(maxHeaderBytes) || length > BigInt(fileSize - 8)) {
    throw damaged(context, `the header length ${length.toString()} is out of range`);
  }
  return Number(length);
}

function parseHeader(bytes: Uint8Array, fileSize: number, context: ErrorContext): readonly TensorEntry[] {
  const header = parseJson(bytes, context);
  const dataStart = 8 + bytes.byteLength;
  const entries = Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, value]) => parseEntry(name, value, dataStart, context))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  let expected = dataStart;
  for (const { name, start, end } of entries) {
    if (start !== expected) throw damaged(context, `the offsets of ${name} leave a gap or overlap`);
    expected = end;
  }
  if (expected !== fileSize) throw damaged(context, `its tensors end at byte ${expected} of ${fileSize}`);
  return entries;
}

function parseJson(bytes: Uint8Array, context: ErrorContext): Readonly<Record<string, unknown>> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw damaged(context, 'the header is not JSON', cause);
  }
  if (!isRecord(header)) throw damaged(context, 'the header is not an object');
  return header;
}

function parseEntry(name: string, value: unknown, dataStart: number, context: ErrorContext): TensorEntry {
  if (!isRecord(value)) throw damaged(context, `the entry ${name} is not an object`);
  const { dtype: type, shape, data_offsets: offsets } = value;
  if (!isElementType(type)) {
    throw damaged(context, `the type ${abbreviate(type)} of ${name} is not one of F32, F16, BF16`);
  }
  if (!isSizes(shape)) throw damaged(context, `the shape of ${name} is not a list of sizes`);
  if (!isSizes(offsets) || offsets.length !== 2) throw damaged(context, `the offsets of ${name} are not two numbers`);
  const [start = 0, end = 0] = offsets;
  if (end - start !== tensorBytes({ type, shape }))
    throw damaged(context, `the offsets of ${name} do not fit its shape`);
  return { name, type, shape, start: dataStart + start, end: dataStart + end };
}

/** `length` was checked against the file's size, so this allocates no more than the file holds. */
async function readBytes(
  file: FileHandle,
  start: number,
  length: number,
  context: ErrorContext,
  place?: Uint8Array,
): Promise<Uint8Array> {
  const bytes = await readUpTo(file, start, length, place);
  if (bytes.byteLength < length) throw damaged(context, 'it ended while it was read');
  return bytes;
}

/** `bytes` must begin an ArrayBuffer of its own. */
function widen(type: 'F16' | 'BF16', bytes: Uint8Array, place: Float32Array): void {
  const source = new Uint16Array(bytes.buffer);
  const bits = new Uint32Array(place.buffer, place.byteOffset, place.length);
  for (let index = 0; index < source.length; index += 1) {
    const value = source[index] ?? 0;
    if (type === 'BF16') bits[index] = value << 16;
    else place[index] = halfToNumber(value);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isElementType(value: unknown): value is ElementType {
  return typeof value === 'string' && Object.hasOwn(elementBytes, value);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && Number(size) >= 0);
}

function damaged(context: ErrorContext, reason: string, cause?: unknown): EngineError {
  return new EngineError(context.code, `${context.file} is not a valid safetensors file: ${reason}`, { cause });
}
