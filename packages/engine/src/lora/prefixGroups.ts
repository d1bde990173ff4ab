/**
 * Groups of sequences in a batch that begin alike, such as conversations with one system message or questions about one
 * passage. The model computes the shared beginning once, forward and backward. Each sequence continues it in the same
 * row, and the attention mask keeps them apart. Each has the same loss and gradients as alone.
 */
import type { DecoderConfig } from '../model/config.js';
import type { TrainingExample } from '../types.js';
import { sum } from '../support/numbers.js';
import { layerCost } from './packing.js';

export interface PrefixGroup {
  /** The number of tokens that all members begin with; 0 for a group of one. */
  readonly shared: number;
  /** At least one member. */
  readonly members: readonly TrainingExample[];
}

export interface PrefixGroupLimits {
  /** Most tokens of a group, unless it has a single member. */
  readonly maxTokens: number;
  readonly maxTargets: number;
}

/** Sharing fewer tokens is not worth a longer row. */
const minSharedTokens = 8;

/** The greatest depth of cuts. Nested beginnings are few, and thousands of nested calls would overflow the stack. */
const maxCuts = 64;

/** Tokens that go through the model. */
export function groupTokens({ shared, members }: PrefixGroup): number {
  return shared + sum(members.map(({ sequence }) => sequence.tokens.length - shared));
}

/** The groups that cost least to compute, in the order of their first members. */
export function groupByPrefix(
  examples: readonly TrainingExample[],
  config: DecoderConfig,
  limits: PrefixGroupLimits,
): readonly PrefixGroup[] {
  const relatives = examples.map((example, index): IndexedExample => ({ ...example, index }));
  const sorted = relatives.sort(byTokens);
  const shares = sorted.slice(1).map((member, index) => shareable(sorted[index] ?? member, member));
  return groupSorted(sorted, shares)
    .flatMap((group) => divide(group, config, limits))
    .sort((a, b) => firstIndex(a) - firstIndex(b));
}

/** An example with its index in the batch, which may contain it several times. */
interface IndexedExample extends TrainingExample {
  readonly index: number;
}

interface IndexedGroup {
  readonly shared: number;
  readonly members: readonly IndexedExample[];
}

function firstIndex({ members }: IndexedGroup): number {
  return Math.min(...members.map(({ index }) => index));
}

function byTokens(a: IndexedExample, b: IndexedExample): number {
  const at = commonLength(a, b);
  return (a.sequence.tokens[at] ?? -1) - (b.sequence.tokens[at] ?? -1) || a.index - b.index;
}

function commonLength({ sequence: a }: TrainingExample, { sequence: b }: TrainingExample): number {
  const shorter = Math.min(a.tokens.length, b.tokens.length);
  for (let at = 0; at < shorter; at += 1) if (a.tokens[at] !== b.tokens[at]) return at;
  return shorter;
}

/** The most tokens that two examples may share. Each keeps for itself the token that predicts its first target. */
function shareable(a: TrainingExample, b: TrainingExample): number {
  return Math.min(commonLength(a, b), a.sequence.targetStart - 1, b.sequence.targetStart - 1);
}

/**
 * Groups neighbours in the order of their tokens. Either all form one group, or they are cut where neighbours share
 * least and each part is grouped by itself, whichever saves more tokens. `shares` has what each shares with the next.
 */
function groupSorted(
  sorted: readonly IndexedExample[],
  shares: readonly number[],
  cutsLeft = maxCuts,
): readonly IndexedGroup[] {
  if (sorted.length <= 1 || cutsLeft === 0) return sorted.map((member) => ({ shared: 0, members: [member] }));
  const shared = shares.reduce((least, share) => Math.min(least, share));
  const cuts = [0, ...shares.flatMap((share, index) => (share === shared ? [index + 1] : [])), sorted.length];
  const apart = cuts.slice(1).flatMap((end, index) => {
    const start = cuts[index] ?? 0;
    return groupSorted(sorted.slice(start, end), shares.slice(start, end - 1), cutsLeft - 1);
  });
  const together = [{ shared, members: sorted }];
  return shared >= minSharedTokens && savedTokens(together) >= savedTokens(apart) ? together : apart;
}

function savedTokens(groups: readonly IndexedGroup[]): number {
  return sum(groups.map(({ shared, members }) => shared * (members.length - 1)));
}

/**
 * Divides a group into the cheapest number of groups. Fewer groups share more, but attention grows with the square of a
 * row's length. The search stops when more groups cost more.
 */
function divide(group: IndexedGroup, config: DecoderConfig, limits: PrefixGroupLimits): readonly IndexedGroup[] {
  const apart = spread(group, group.members.length);
  let best = { groups: apart, cost: costOf(apart, config) };
  let previousCost = Infinity;
  for (let count = Math.ceil(groupTokens(group) / limits.maxTokens); count < group.members.length; count += 1) {
    const groups = spread(group, count);
    if (!groups.every((part) => part.members.length === 1 || isWithin(part, limits))) continue;
    const cost = costOf(groups, config);
    if (cost < best.cost) best = { groups, cost };
    if (cost > previousCost) break;
    previousCost = cost;
  }
  return best.groups;
}

function isWithin(group: PrefixGroup, { maxTokens, maxTargets }: PrefixGroupLimits): boolean {
  const targets = sum(group.members.map(({ sequence }) => sequence.tokens.length - sequence.targetStart));
  return groupTokens(group) <= maxTokens && targets <= maxTargets;
}

function costOf(groups: readonly PrefixGroup[], config: DecoderConfig): number {
  return sum(groups.map((group) => layerCost({ rows: 1, length: groupTokens(group) }, config)));
}

/**
 * Splits a group into `count` parts of about as many tokens. From long to short, each member goes to the part with the
 * least.
 */
function spread({ shared, members }: IndexedGroup, count: number): readonly IndexedGroup[] {
  const parts = Array.from({ length: count }, () => ({ tokens: 0, members: [] as IndexedExample[] }));
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
