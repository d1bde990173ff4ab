/** The matrices of a `LoraGroup`: joined for generation, and each by itself again for scoring. */
import type { FloatTensor } from '../checkpoint/safetensors.js';
import type { LoraGroup } from '../model/loraGroups.js';

/**
 * Ranks are filled up to a multiple of this: products add in blocks of 4 or 8, and a part begins with a block, whatever
 * is beside it.
 */
export const RANK_STEP = 8;

export interface JoinedMatrices {
  /** The rank of each part, a multiple of `RANK_STEP`, or 0 for a part that is not adapted. R is their sum. */
  readonly ranks: readonly number[];
  /** `[R, in]` */
  readonly a: Float32Array;
  /** `[R, outs]`, transposed, since a product with a single row is then computed along its outputs. */
  readonly b: Float32Array;
}

/** A and B of one projection. */
export interface MatrixPair {
  readonly a: FloatTensor;
  readonly b: FloatTensor;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The sum of the parts' `out`. */
export function outputs(group: LoraGroup): number {
  return sum(group.parts.map(({ out }) => out));
}

/** Numbers in A and B together. */
export function joinedSize(group: LoraGroup, ranks: readonly number[]): number {
  return sum(ranks) * (group.width + outputs(group));
}

/** The ranks of a group that nobody adapts: a product needs one column at least. */
export function leastRanks(group: LoraGroup): readonly number[] {
  return group.parts.map((_, part) => (part === 0 ? RANK_STEP : 0));
}

/** Room for A and B, one after the other at `start` of a stretch of memory. */
export function joinedIn(
  stretch: Float32Array,
  start: number,
  group: LoraGroup,
  ranks: readonly number[],
): JoinedMatrices {
  const end = start + joinedSize(group, ranks);
  const middle = start + sum(ranks) * group.width;
  return { ranks, a: stretch.subarray(start, middle), b: stretch.subarray(middle, end) };
}

/**
 * Puts the matrices of one part, of the same or a smaller rank, into its place, which holds zeros. B is multiplied by
 * `scale`.
 */
export function placePart(
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

/** Puts joined matrices, or none, into a place whose ranks are the same or greater, and zeros into the rest. */
export function placeJoined(group: LoraGroup, place: JoinedMatrices, joined: JoinedMatrices | undefined): void {
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

/** The matrices of one part by itself: A in the same memory, B copied. */
export function partOf(group: LoraGroup, joined: JoinedMatrices, part: number): MatrixPair {
  const rank = joined.ranks[part] ?? 0;
  const out = group.parts[part]?.out ?? 0;
  const b = new Float32Array(out * rank);
  const transposed: Block = { data: b, start: 0, below: 1, beside: rank };
  copyBlock(blockOf(group, joined, part), transposed, { height: rank, width: out, scale: 1 });
  const a = rowsOf(group, joined, part);
  return { a: { shape: [rank, group.width], data: a }, b: { shape: [out, rank], data: b } };
}

/** The first row of a part in A, and in B as it is stored. */
function firstRow(ranks: readonly number[], part: number): number {
  return sum(ranks.slice(0, part));
}

/** A part's rows of A. */
function rowsOf(group: LoraGroup, { ranks, a }: JoinedMatrices, part: number): Float32Array {
  const start = firstRow(ranks, part);
  return a.subarray(start * group.width, (start + (ranks[part] ?? 0)) * group.width);
}

/** Numbers of a matrix, by where they lie. */
interface Block {
  readonly data: Float32Array;
  readonly start: number;
  /** Steps to the number below and to that on the right. */
  readonly below: number;
  readonly beside: number;
}

/** A part's block of B. */
function blockOf(group: LoraGroup, { ranks, b }: JoinedMatrices, part: number): Block {
  const outs = outputs(group);
  const column = sum(group.parts.slice(0, part).map(({ out }) => out));
  return { data: b, start: firstRow(ranks, part) * outs + column, below: outs, beside: 1 };
}

/** Loops, as a call for each row takes many times as long, and a cold adapter's first answer waits for it. */
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
