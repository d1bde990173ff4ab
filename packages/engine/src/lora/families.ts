/**
 * Sequences of a batch that begin alike, such as conversations with one system message or questions about one passage.
 * The model computes what they share once, forward and backward. Each sequence goes on from it in the same row, and the
 * attention mask keeps them apart. Each has the loss and the gradients that it would have alone.
 */
import type { DecoderConfig } from '../model/config.js';
import type { TrainingExample } from '../types.js';
import { workOf } from './packing.js';

export interface Family {
  /** How many tokens all members begin with; 0 for a family of one. */
  readonly shared: number;
  /** At least one member. */
  readonly members: readonly TrainingExample[];
}

export interface FamilyLimits {
  /** Tokens of a family, unless it has one member. */
  readonly maxTokens: number;
  readonly maxTargets: number;
}

/** Fewer shared tokens than these are not worth a longer row. */
const MIN_SHARED_TOKENS = 8;

/**
 * How often a part is cut again: beginnings within beginnings are few, and a stack of calls is no place for thousands.
 */
const MAX_CUTS = 64;

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
  const sorted = relatives.sort(byTokens);
  const shares = sorted.slice(1).map((member, index) => shareable(sorted[index] ?? member, member));
  return groupSorted(sorted, shares)
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

/** How many tokens two examples may share. Each keeps for itself the token that predicts its first target. */
function shareable(a: TrainingExample, b: TrainingExample): number {
  return Math.min(commonLength(a, b), a.sequence.targetStart - 1, b.sequence.targetStart - 1);
}

/**
 * Groups neighbours in the order of their tokens. Either all are one group, or they are cut where neighbours share
 * least and each part is grouped by itself: whichever saves more tokens. `shares` has what each shares with the next.
 */
function groupSorted(sorted: readonly Relative[], shares: readonly number[], cutsLeft = MAX_CUTS): readonly Group[] {
  if (sorted.length <= 1 || cutsLeft === 0) return sorted.map((member) => ({ shared: 0, members: [member] }));
  const shared = shares.reduce((least, share) => Math.min(least, share));
  const cuts = [0, ...shares.flatMap((share, index) => (share === shared ? [index + 1] : [])), sorted.length];
  const apart = cuts.slice(1).flatMap((end, index) => {
    const start = cuts[index] ?? 0;
    return groupSorted(sorted.slice(start, end), shares.slice(start, end - 1), cutsLeft - 1);
  });
  const together = [{ shared, members: sorted }];
  return shared >= MIN_SHARED_TOKENS && savedTokens(together) >= savedTokens(apart) ? together : apart;
}

function savedTokens(groups: readonly Group[]): number {
  return groups.reduce((sum, { shared, members }) => sum + shared * (members.length - 1), 0);
}

/**
 * Divides a group into as many families as are cheapest: fewer of them share more, but attention grows with the square
 * of a row's length. The search ends where more of them cost more.
 */
function divide(group: Group, config: DecoderConfig, limits: FamilyLimits): readonly Group[] {
  const apart = spread(group, group.members.length);
  let best = { families: apart, cost: costOf(apart, config) };
  let previousCost = Infinity;
  for (let count = Math.ceil(familyTokens(group) / limits.maxTokens); count < group.members.length; count += 1) {
    const families = spread(group, count);
    if (!families.every((part) => part.members.length === 1 || isWithin(part, limits))) continue;
    const cost = costOf(families, config);
    if (cost < best.cost) best = { families, cost };
    if (cost > previousCost) break;
    previousCost = cost;
  }
  return best.families;
}

function isWithin(family: Family, { maxTokens, maxTargets }: FamilyLimits): boolean {
  const targets = family.members.reduce((sum, { sequence }) => sum + sequence.tokens.length - sequence.targetStart, 0);
  return familyTokens(family) <= maxTokens && targets <= maxTargets;
}

function costOf(families: readonly Family[], config: DecoderConfig): number {
  return families.reduce((sum, family) => sum + workOf({ rows: 1, length: familyTokens(family) }, config), 0);
}

/**
 * Splits a group into `count` parts of about as many tokens: from long to short, each member goes to the part that has
 * least.
 */
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
