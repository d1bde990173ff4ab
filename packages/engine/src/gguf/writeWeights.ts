/** Writes the tensors of a GGUF file as safetensors, one part of a tensor at a time. */
import { open, type FileHandle } from 'node:fs/promises';
import { readUpTo } from '../support/boundedFile.js';
import { toHalves } from '../checkpoint/halfPrecision.js';
import { serializeHeader, tensorBytes, type ElementType } from '../checkpoint/safetensors.js';
import { EngineError } from '../engine.js';
import { elementCount } from '../support/numbers.js';
import { decodeBlocks } from './blockFormats.js';
import type { GgufTensor } from './ggufFile.js';
import { pairedRow, type PlannedTensor } from './tensorNames.js';

/**
 * `exact` stores each tensor in the smallest type that holds its numbers exactly. That is F32 for Q8_0 and all smaller
 * formats. `F16` rounds all tensors to F16, so that the file is half as large.
 */
export type ImportPrecision = 'exact' | 'F16';

/** About this many numbers are in memory at a time. */
const partLength = 2 ** 20;
const halfLimit = 65_520;

export interface WeightsToWrite {
  readonly handle: FileHandle;
  /** How error messages name the source file. */
  readonly source: string;
  readonly tensors: readonly PlannedTensor[];
  readonly precision: ImportPrecision;
  /** Called after each part with the number of source bytes read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes and syncs a new file. The order is that of the Python library, so that equal numbers give equal bytes.
 * @throws EngineError `checkpoint_invalid` when the source ends too soon, or when a number is too large for F16;
 *   `cancelled`.
 */
export async function writeWeights(file: string, weights: WeightsToWrite): Promise<void> {
  const { precision } = weights;
  const typed = weights.tensors
    .map((tensor) => ({ tensor, type: precision === 'F16' ? precision : tensor.source.format.exactType }))
    .sort((a, b) => widthOf(b.type) - widthOf(a.type) || order(a.type, b.type) || order(a.tensor.name, b.tensor.name));
  const sizes = typed.map(({ tensor: { name, source }, type }) => ({ name, type, shape: source.shape }));
  const output = await open(file, 'wx');
  try {
    await output.writeFile(serializeHeader(sizes, { format: 'pt' }));
    for (const { tensor, type } of typed) {
      for await (const part of convertedParts(tensor, type, weights)) await output.writeFile(part);
    }
    await output.sync();
  } finally {
    await output.close();
  }
}

function widthOf(type: ElementType): number {
  return tensorBytes({ type, shape: [1] });
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Converts whole rows at a time, and whole heads if these are reordered. */
async function* convertedParts(
  { source, pairedRows }: PlannedTensor,
  type: ElementType,
  { handle, source: file, onBytes, signal }: WeightsToWrite,
): AsyncGenerator<Uint8Array> {
  const rowLength = source.shape.at(-1) ?? 0;
  const rows = elementCount(source.shape) / rowLength;
  const rowBytes = (rowLength / source.format.length) * source.format.bytes;
  const atOnce = pairedRows === 0 ? Math.max(1, Math.floor(partLength / rowLength)) : pairedRows;
  for (let first = 0; first < rows; first += atOnce) {
    if (signal?.aborted === true) throw new EngineError('cancelled', 'the import was cancelled');
    const count = Math.min(atOnce, rows - first);
    const start = source.start + first * rowBytes;
    const bytes = await readUpTo(handle, start, count * rowBytes);
    if (bytes.byteLength < count * rowBytes) {
      throw new EngineError('checkpoint_invalid', `${file} has changed while it was read`);
    }
    onBytes?.(bytes.byteLength);
    const ordered = pairedRows === 0 ? bytes : inPairedOrder(bytes, pairedRows);
    yield converted(source, ordered, type, file);
  }
}

/** Stored rows can be moved, because each consists of whole blocks. */
function inPairedOrder(bytes: Uint8Array, rows: number): Uint8Array {
  const length = bytes.byteLength / rows;
  const ordered = new Uint8Array(bytes.byteLength);
  for (let row = 0; row < rows; row += 1) {
    const from = pairedRow(row, rows) * length;
    ordered.set(bytes.subarray(from, from + length), row * length);
  }
  return ordered;
}

function converted({ name, format }: GgufTensor, bytes: Uint8Array, type: ElementType, file: string): Uint8Array {
  // Both formats store these as little-endian numbers.
  if (format.name === type) return bytes;
  const values = new Float32Array((bytes.byteLength / format.bytes) * format.length);
  decodeBlocks(format, bytes, values);
  if (type === 'F32') return new Uint8Array(values.buffer);
  if (values.some((value) => Math.abs(value) >= halfLimit)) {
    throw new EngineError('checkpoint_invalid', `${file}: ${name} has numbers that are too large for F16`);
  }
  return new Uint8Array(toHalves(values).buffer);
}
