/**
 * The header of a GGUF file: metadata, and where its tensors lie
 * (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). `@huggingface/gguf` parses it. The file comes from
 * outside, so this checks that it holds what its header promises.
 */
import type { FileHandle } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { GGUFTensorInfo } from '@huggingface/gguf';
import { openRegularFile, readUpTo } from '../support/boundedFile.js';
import { abbreviate } from '../support/abbreviate.js';
import { JsonFields, type JsonObject } from '../checkpoint/jsonFields.js';
import { EngineError } from '../engine.js';
import { elementCount } from '../support/numbers.js';
import type { BlockFormat } from './blockFormat.js';
import { ggufBlockFormats } from './blockFormats.js';

export interface GgufTensor {
  /** llama.cpp's name for it, such as `blk.0.attn_q.weight`. */
  readonly name: string;
  /** Slowest dimension first, as in safetensors. */
  readonly shape: readonly number[];
  readonly format: BlockFormat;
  /** Byte range in the file. */
  readonly start: number;
  readonly end: number;
}

export interface GgufFile {
  /** Numbers, booleans, texts and lists of them by key. */
  readonly metadata: JsonFields;
  readonly tensors: readonly GgufTensor[];
}

const magicNumber = 'GGUF';
/** The magic number, the version, and the counts of tensors and metadata. */
const prefixBytes = 24;
/** The fewest bytes of a metadata entry and of a tensor's entry. */
const [metadatumBytes, entryBytes] = [13, 24];
const defaultAlignment = 32;

/**
 * Opens the file for `use` and closes it.
 * @throws EngineError `checkpoint_invalid` naming the file and the fault, such as a premature end.
 */
export async function withGguf<T>(path: string, use: (file: GgufFile, handle: FileHandle) => Promise<T>): Promise<T> {
  const source = basename(path);
  const opened = await openRegularFile(path, { code: 'checkpoint_invalid', file: source });
  if (opened === undefined) throw new EngineError('checkpoint_invalid', `${source} is missing (${resolve(path)})`);
  const { handle, size } = opened;
  try {
    await checkPrefix(handle, size, source);
    return await use(await parse(path, size, source), handle);
  } finally {
    await handle.close();
  }
}

/** The parser reads zeros beyond the end of a file, so absurd counts would make it fill the memory. */
async function checkPrefix(handle: FileHandle, size: number, source: string): Promise<void> {
  const bytes = await readUpTo(handle, 0, prefixBytes);
  if (Buffer.from(bytes.subarray(0, 4)).toString('latin1') !== magicNumber)
    throw damaged(source, 'it does not begin with GGUF');
  if (bytes.byteLength < prefixBytes) throw endsTooSoon(source, size);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const version = view.getUint32(4, true);
  if (version !== 2 && version !== 3) {
    const order = [2, 3].includes(view.getUint32(4, false)) ? ' (it is big-endian)' : '';
    throw damaged(source, `its version must be 2 or 3, but is ${version}${order}`);
  }
  const least = view.getBigUint64(8, true) * BigInt(entryBytes) + view.getBigUint64(16, true) * BigInt(metadatumBytes);
  if (least > BigInt(size)) throw endsTooSoon(source, size);
}

async function parse(path: string, size: number, source: string): Promise<GgufFile> {
  // Loaded only here, because serving a model does not need it.
  const { gguf, GGMLQuantizationType } = await import('@huggingface/gguf');
  // An absolute path is never mistaken for a URL.
  const header = await gguf(resolve(path), { allowLocalFile: true }).catch((cause: unknown) => {
    if (cause instanceof RangeError) throw endsTooSoon(source, size, cause);
    throw damaged(source, cause instanceof Error ? cause.message.slice(0, 200) : 'it cannot be parsed', cause);
  });
  // It ends within the file only if the header was whole.
  if (header.tensorInfoByteRange[1] > size) throw endsTooSoon(source, size);
  const metadata = new JsonFields(source, withNumbers(header.metadata));
  const parts = metadata.integer('split.count', 1, { min: 0 });
  if (parts > 1) throw metadata.refusal('split.count', '1 (llama-gguf-split --merge joins the parts)');
  const alignment = metadata.integer('general.alignment', defaultAlignment);
  if (!Number.isInteger(Math.log2(alignment))) throw metadata.refusal('general.alignment', 'a power of two');
  const dataStart = Math.ceil(header.tensorInfoByteRange[1] / alignment) * alignment;
  const names = new Set<string>();
  const tensors = header.tensorInfos.map((info) => {
    if (names.has(info.name)) throw damaged(source, `the tensor ${abbreviate(info.name)} is there twice`);
    names.add(info.name);
    return tensorOf(info, { source, size, dataStart, typeName: GGMLQuantizationType[info.dtype] });
  });
  return { metadata, tensors };
}

interface Place {
  readonly source: string;
  readonly size: number;
  readonly dataStart: number;
  readonly typeName: string | undefined;
}

function tensorOf(info: GGUFTensorInfo, { source, size, dataStart, typeName }: Place): GgufTensor {
  const name = abbreviate(info.name);
  const format = ggufBlockFormats.get(info.dtype);
  if (format === undefined) {
    const known = [...ggufBlockFormats.values()].map((each) => each.name).join(', ');
    const found = typeName ?? `number ${info.dtype}`;
    throw new EngineError(
      'checkpoint_invalid',
      `${source}: the type of ${name} must be one of ${known}, but is ${found}; another file of the model may have one`,
    );
  }
  const shape = info.shape.map(Number).reverse();
  const count = elementCount(shape);
  if (shape.length === 0 || !shape.every((length) => length > 0) || !Number.isSafeInteger(count)) {
    throw damaged(source, `the shape of ${name} is [${shape.join(', ')}]`);
  }
  if ((shape.at(-1) ?? 0) % format.length !== 0) {
    throw damaged(source, `the rows of ${name} are no whole blocks of ${format.length} numbers (${format.name})`);
  }
  const start = dataStart + Number(info.offset);
  const end = start + (count / format.length) * format.bytes;
  if (end > size) throw endsTooSoon(source, size);
  return { name: info.name, shape, format, start, end };
}

/** Turns 64-bit integers into numbers. Those that are too large are refused where they are read. */
function withNumbers(metadata: object): JsonObject {
  const plain = (value: unknown): unknown =>
    typeof value === 'bigint' ? Number(value) : Array.isArray(value) ? value.map(plain) : value;
  return Object.fromEntries(Object.entries(metadata).map(([key, value]: [string, unknown]) => [key, plain(value)]));
}

function endsTooSoon(source: string, size: number, cause?: unknown): EngineError {
  const reason = `it has ${size} bytes, and more were promised; a download may have been cut off`;
  return damaged(source, reason, cause);
}

function damaged(source: string, reason: string, cause?: unknown): EngineError {
  return new EngineError('checkpoint_invalid', `${source} is not a whole GGUF file: ${reason}`, { cause });
}
