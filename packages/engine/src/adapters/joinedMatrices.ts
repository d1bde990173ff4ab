/** The matrices of a `LoraGroup`: joined for generation, separate again for scoring. */
import type { FloatTensor } from '../checkpoint/safetensors.js';
import type { LoraGroup } from '../model/loraGroups.js';
import { sum } from '../support/numbers.js';

/** Ranks are padded to a multiple of this. Products add in blocks of 4 or 8, so each part must begin with a block. */
export const rankStep = 8;

export interface JoinedMatrices {
  /** The rank of each part, a multiple of `rankStep`, or 0 for a part that is not adapted. R is their sum. */
  readonly ranks: readonly number[];
  /** `[R, in]` */
  readonly a: Float32Array;
  /** `[R, outs]`: transposed, so that a product with a single row is computed along its outputs. */
  readonly b: Float32Array;
}

/** A and B of one projection. */
export interface MatrixPair {
  readonly a: FloatTensor;
  readonly b: FloatTensor;
}

/** The output widths of all parts together. */
export function outputWidth(group: LoraGroup): number {
  return sum(group.parts.map(({ out }) => out));
}

/** The number of elements of A and B together. */
export function joinedSize(group: LoraGroup, ranks: readonly number[]): number {
  return sum(ranks) * (group.width + outputWidth(group));
}

/** The ranks of a group that nothing adapts. A product needs at least one column. */
export function minRanks(group: LoraGroup): readonly number[] {
  return group.parts.map((_, part) => (part === 0 ? rankStep : 0));
}

/** A and B as views of `memory`, one after the other from `start` on. */
export function joinedAt(
  memory: Float32Array,
  start: number,
  group: LoraGroup,
  ranks: readonly number[],
): JoinedMatrices {
  const end = start + joinedSize(group, ranks);
  const middle = start + sum(ranks) * group.width;
  return { ranks, a: memory.subarray(start, middle), b: memory.subarray(middle, end) };
}

/**
 * Writes the matrices of one part into `place`, which holds zeros and has at least their rank. Multiplies B by `scale`.
 */
export function writePart(
  group: LoraGroup,
  place: JoinedMatrices,
  part: number,
  { a, b }: MatrixPair,
  scale = 1,
): void {
  const rank = a.shape[0] ?? 0;
  place.a.set(a.data, firstRow(place.ranks, part) * group.width);
  // `[out, rank]`, seen as `[rank, out]`.
  const given: Block = { data: b.data, start: 0, below: 1, beside: rank };
  copyBlock(given, blockOf(group, place, part), { height: rank, width: group.parts[part]?.out ?? 0, scale });
}

/** Writes joined matrices, or none, into a place of at least their ranks, and zeros into the rest of it. */
export function writeJoined(group: LoraGroup, place: JoinedMatrices, joined: JoinedMatrices | undefined): void {
  if (joined?.ranks.join() === place.ranks.join()) {
    place.a.set(joined.a);
    place.b.set(joined.b);
    return;
  }
  place.a.fill(0);
  place.b.fill(0);
  if (joined === undefined) return;
  for (const [part, { out }] of group.parts.entries()) {
    place.a.set(rowsOf(group, joined, part), firstRow(place.ranks, part) * group.width);
    const size = { height: joined.ranks[part] ?? 0, width: out, scale: 1 };
    copyBlock(blockOf(group, joined, part), blockOf(group, place, part), size);
  }
}

/** The matrices of one part: A as a view, B as a copy. */
export function partOf(group: LoraGroup, joined: JoinedMatrices, part: number): MatrixPair {
  const rank = joined.ranks[part] ?? 0;
  const out = group.parts[part]?.out ?? 0;
  const b = new Float32Array(out * rank);
  const transposed: Block = { data: b, start: 0, below: 1, beside: rank };
  copyBlock(blockOf(group, joined, part), transposed, { height: rank, width: out, scale: 1 });
  const a = rowsOf(group, joined, part);
  return { a: { shape: [rank, group.width], data: a }, b: { shape: [out, rank], data: b } };
}

/** The index of a part's first row in A, and in the transposed B. */
function firstRow(ranks: readonly number[], part: number): number {
  return sum(ranks.slice(0, part));
}

/** The rows of A that belong to a part. */
function rowsOf(group: LoraGroup, { ranks, a }: JoinedMatrices, part: number): Float32Array {
  const start = firstRow(ranks, part);
  return a.subarray(start * group.width, (start + (ranks[part] ?? 0)) * group.width);
}

/** A rectangle of numbers within `data`. */
interface Block {
  readonly data: Float32Array;
  readonly start: number;
  /** The distances in `data` to the number below and to the number on the right. */
  readonly below: number;
  readonly beside: number;
}

/** The rectangle of B that belongs to a part. */
function blockOf(group: LoraGroup, { ranks, b }: JoinedMatrices, part: number): Block {
  const outs = outputWidth(group);
  const column = sum(group.parts.slice(0, part).map(({ out }) => out));
  return { data: b, start: firstRow(ranks, part) * outs + column, below: outs, beside: 1 };
}

/** Plain loops: a call for each row takes many times as long, and the first answer of a cold adapter waits for it. */
function copyBlock(
  from: Block,
  to: Block,
  { height, width, scale }: { readonly height: number; readonly width: number; readonly scale: number },
): void {
  for (let row = 0; row < height; row += 1) {
    let source = from.start + row * from.below;
    let target = to.start + row * to.below;
    for (let column = 0; column < width; column += 1) {
      to.data[target] = (from.data[source] ?? 0) * scale;
      source += from.beside;
      target += to.beside;
    }
  }
}
