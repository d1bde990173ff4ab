/**
 * Sequences of a batch that begin alike, such as conversations with one system message or questions about one passage.
 * What they share goes through the model once, forward and backward: each of them goes on from it in the same row, and
 * the attention mask keeps them apart. Losses and gradients are those that they have alone.
 */
import type { DecoderConfig } from '../model/config.js';
import type { TrainingExample } from '../types.js';
import { workOf } from './packing.js';

export interface Family {
  /** How many tokens all members begin with; 0 for a family of one. */
  readonly shared: number;
  /** At least one. */
  readonly members: readonly TrainingExample[];
}

export interface FamilyLimits {
  /** Tokens of a family, unless it has one member. */
  readonly maxTokens: number;
  readonly maxTargets: number;
}

/** Fewer shared tokens than these are not worth a longer row. */
const MIN_SHARED_TOKENS = 8;

/** Tokens that go through the model. */
export function familyTokens({ shared, members }: Family): number {
  return members.reduce((sum, { sequence }) => sum + sequence.tokens.length - shared, shared);
}

/** The families that take least to compute, in the order of their first members. */
export function findFamilies(
  examples: readonly TrainingExample[],
  config: DecoderConfig,
  limits: FamilyLimits,
): readonly Family[] {
  const relatives = examples.map(({ sequence, weight, softTargets }, index) => ({
    sequence,
    weight,
    ...(softTargets === undefined ? {} : { softTargets }),
    index,
  }));
  return groupSorted(relatives.sort(byTokens))
    .flatMap((group) => divide(group, config, limits))
    .sort((a, b) => firstIndex(a) - firstIndex(b));
}

/** An example with its place in the batch, which may have it several times. */
interface Relative extends TrainingExample {
  readonly index: number;
}

interface Group {
  readonly shared: number;
  readonly members: readonly Relative[];
}

function firstIndex({ members }: Group): number {
  return Math.min(...members.map(({ index }) => index));
}

function byTokens(a: Relative, b: Relative): number {
  const at = commonLength(a, b);
  return (a.sequence.tokens[at] ?? -1) - (b.sequence.tokens[at] ?? -1) || a.index - b.index;
}

function commonLength({ sequence: a }: TrainingExample, { sequence: b }: TrainingExample): number {
  const shorter = Math.min(a.tokens.length, b.tokens.length);
  for (let at = 0; at < shorter; at += 1) if (a.tokens[at] !== b.tokens[at]) return at;
  return shorter;
}

/** What two examples may share: the token that predicts the first target of either is its own. */
function shareable(a: TrainingExample, b: TrainingExample): number {
  return Math.min(commonLength(a, b), a.sequence.targetStart - 1, b.sequence.targetStart - 1);
}

/**
 * Of neighbours in the order of their tokens, either all are one group, or those on either side of where they share
 * least are several: whichever saves more tokens.
 */
function groupSorted(sorted: readonly Relative[]): readonly Group[] {
  if (sorted.length <= 1) return sorted.map((member) => ({ shared: 0, members: [member] }));
  const shares = sorted.slice(1).map((member, index) => shareable(sorted[index] ?? member, member));
  const shared = Math.min(...shares);
  const cuts = [0, ...shares.flatMap((share, index) => (share === shared ? [index + 1] : [])), sorted.length];
  const apart = cuts.slice(1).flatMap((end, index) => groupSorted(sorted.slice(cuts[index], end)));
  const together = [{ shared, members: sorted }];
  return shared >= MIN_SHARED_TOKENS && savedTokens(together) >= savedTokens(apart) ? together : apart;
}

function savedTokens(groups: readonly Group[]): number {
  return groups.reduce((sum, { shared, members }) => sum + shared * (members.length - 1), 0);
}

/**
 * As many families of the same beginning as are cheapest: fewer of them share more, but attention grows with the square
 * of a row's length.
 */
function divide(group: Group, config: DecoderConfig, limits: FamilyLimits): readonly Group[] {
  let best = spread(group, group.members.length);
  for (let count = 1; count < group.members.length; count += 1) {
    const divided = spread(group, count);
    const fits = divided.every((part) => part.members.length === 1 || isWithin(part, limits));
    if (fits && costOf(divided, config) < costOf(best, config)) best = divided;
  }
  return best;
}

function isWithin(family: Family, { maxTokens, maxTargets }: FamilyLimits): boolean {
  const targets = family.members.reduce((sum, { sequence }) => sum + sequence.tokens.length - sequence.targetStart, 0);
  return familyTokens(family) <= maxTokens && targets <= maxTargets;
}

function costOf(families: readonly Family[], config: DecoderConfig): number {
  return families.reduce((sum, family) => sum + workOf({ rows: 1, length: familyTokens(family) }, config), 0);
}

/** So many parts of about as many tokens: from long to short, each member goes to the part that has least. */
function spread({ shared, members }: Group, count: number): readonly Group[] {
  const parts = Array.from({ length: count }, () => ({ tokens: 0, members: [] as Relative[] }));
  const byLength = [...members].sort((a, b) => b.sequence.tokens.length - a.sequence.tokens.length);
  for (const member of byLength) {
    const least = parts.reduce((a, b) => (b.tokens < a.tokens ? b : a));
    least.tokens += member.sequence.tokens.length - shared;
    least.members.push(member);
  }
  return parts.map((part) => ({
    shared: part.members.length === 1 ? 0 : shared,
    members: part.members.sort((a, b) => a.index - b.index),
  }));
}
