/** Turns training examples into runs of the training graph. */
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { sum } from '../support/numbers.js';
import type { TopK, TrainingExample } from '../types.js';
import { activationBytes, layerwiseBytes, defaultMaxLayerwiseBytes } from './activations.js';
import { groupTokens, groupByPrefix, type PrefixGroup } from './prefixGroups.js';
import { layOut, sumOfTargetWeights, targetCount, type LaidOutRun } from './runLayout.js';

/** Batches of at least this many tokens are computed in two parts. Smaller ones lose more than two threads gain. */
const minTokensInParts = 256;
/**
 * Most tokens of a run of several sequences, without padding. Two runs are in memory at once, and a larger matrix is
 * hardly faster.
 */
const defaultMaxRunTokens = 384;
/** Most numbers in one matrix `[supervised rows, vocabulary]`. A run holds about four of these, of at least one row. */
const defaultMaxRunLogits = 2 ** 25;

export interface TrainingBatch {
  /**
   * One or two parts, each of one or more runs. Their losses and gradients add up to those of the batch. Two parts have
   * about as many tokens each, for two threads. A single thread computes the same parts, so that the sums are equal.
   */
  readonly parts: readonly (readonly LaidOutRun[])[];
  /** Tokens that go through the model, without padding. A shared beginning counts once. */
  readonly tokens: number;
}

export interface BatchOptions {
  readonly maxRunTokens?: number;
  readonly maxRunLogits?: number;
  /** Whether a batch of enough tokens has two parts. By default true. */
  readonly inParts?: boolean;
}

/**
 * Builds the runs of a batch. An example with more targets than a run may have is cut into pieces that share its
 * weight.
 *
 * The loss of the batch is `Σ weight · mean target loss / Σ weight` over its examples. The mean is weighted where an
 * example has `targetWeights`.
 * @throws EngineError `invalid_request` or `context_length_exceeded`, naming the example and its field.
 */
export function buildBatch(
  examples: readonly TrainingExample[],
  config: DecoderConfig,
  {
    maxRunTokens: maxTokens = defaultMaxRunTokens,
    maxRunLogits = defaultMaxRunLogits,
    inParts = true,
  }: BatchOptions = {},
): TrainingBatch {
  for (const [index, example] of examples.entries()) checkExample(example, `batch[${index}]`, config);
  const weightSum = sum(examples.map(({ weight }) => weight));
  if (!(weightSum > 0)) throw invalid('batch', 'needs an example with a positive weight');
  const maxTargets = maxTargetsOf(config, maxRunLogits);
  const isWhole = (example: TrainingExample): boolean => targetCount(example) <= maxTargets;
  const [whole, long] = [examples.filter(isWhole), examples.filter((example) => !isWhole(example))];
  // A single group with everything in it would leave nothing for a second thread.
  const share = Math.ceil(sum(whole.map(lengthOf)) / (inParts ? 2 : 1));
  const maxGroupTokens = Math.min(config.contextLength, maxTokens, share);
  const groups = groupByPrefix(whole, config, { maxTokens: maxGroupTokens, maxTargets });
  const pieces = long.flatMap((example) => splitTargets(example, maxTargets)).map(alone);
  return {
    parts: (inParts ? halves([...groups, ...pieces]) : [[...groups, ...pieces]]).map((part) =>
      splitIntoRuns(part, { maxTokens, maxTargets }).map((run) => layOut(run, weightSum, config)),
    ),
    tokens: sum([...groups.map(groupTokens), ...long.map(lengthOf)]),
  };
}

function alone(example: TrainingExample): PrefixGroup {
  return { shared: 0, members: [example] };
}

/**
 * Refuses an example that would fit in memory neither whole nor layer by layer, even alone. Its attention grows with
 * the square of its length, and a sequence is never cut.
 * @throws EngineError `memory_exceeded`, naming the example and its tokens.
 */
export function requireMemory(
  examples: readonly TrainingExample[],
  config: DecoderConfig,
  maxActivationBytes: number,
  maxLayerwiseBytes = defaultMaxLayerwiseBytes,
): void {
  const maxBytes = Math.max(maxActivationBytes, maxLayerwiseBytes);
  const maxTargets = maxTargetsOf(config, defaultMaxRunLogits);
  for (const [index, example] of examples.entries()) {
    const { length } = example.sequence.tokens;
    const targets = Math.min(targetCount(example), maxTargets);
    const run = { rows: 1, length, targets };
    if (activationBytes(config, run) <= maxActivationBytes || layerwiseBytes(config, run) <= maxBytes) continue;
    const needed = Math.ceil(layerwiseBytes(config, run));
    const message = `batch[${index}].sequence has ${length} tokens, which take ${needed} bytes even layer by layer`;
    const advice = `at most ${maxBytes} are allowed: shorten it or raise maxActivationBytes`;
    throw new EngineError('memory_exceeded', `${message}; ${advice}`);
  }
}

/** The most targets of a run. */
function maxTargetsOf({ vocabularySize }: DecoderConfig, maxRunLogits: number): number {
  return Math.max(1, Math.floor(maxRunLogits / vocabularySize));
}

/**
 * Cuts an example into pieces of at most `maxTargets` targets, whose losses and gradients add up to the example's. No
 * token sees later ones, so a piece ends with its last target.
 */
function splitTargets(example: TrainingExample, maxTargets: number): readonly TrainingExample[] {
  const targets = targetCount(example);
  const { sequence, softTargets, targetWeights, weight } = example;
  const { tokens, targetStart } = sequence;
  const pieces = Array.from({ length: Math.ceil(targets / maxTargets) }, (_, index) => {
    const from = index * maxTargets;
    const to = Math.min(targets, from + maxTargets);
    const piece = {
      sequence: { tokens: tokens.slice(0, targetStart + to), targetStart: targetStart + from },
      weight,
      ...(softTargets === undefined ? {} : { softTargets: softTargets.slice(from, to) }),
      ...(targetWeights === undefined ? {} : { targetWeights: targetWeights.slice(from, to) }),
    };
    return { ...piece, weight: (weight * sumOfTargetWeights(piece)) / sumOfTargetWeights(example) };
  });
  return pieces.filter((piece) => sumOfTargetWeights(piece) > 0);
}

/** Two parts of about as many tokens. From long to short, each group goes to the part that has less. */
function halves(groups: readonly PrefixGroup[]): readonly (readonly PrefixGroup[])[] {
  const [first, second]: [PrefixGroup[], PrefixGroup[]] = [[], []];
  if (groups.length < 2 || tokensOf(groups) < minTokensInParts) return [groups];
  for (const group of byLength(groups)) (tokensOf(first) <= tokensOf(second) ? first : second).push(group);
  return [first, second];
}

function tokensOf(groups: readonly PrefixGroup[]): number {
  return sum(groups.map(groupTokens));
}

function byLength(groups: readonly PrefixGroup[]): readonly PrefixGroup[] {
  return [...groups].sort((a, b) => groupTokens(b) - groupTokens(a));
}

/** Bounds on one run. */
interface RunLimits {
  readonly maxTokens: number;
  readonly maxTargets: number;
}

/** Puts groups of similar length together, so that there is little padding. Runs have about as many tokens each. */
function splitIntoRuns(groups: readonly PrefixGroup[], { maxTokens, maxTargets }: RunLimits): PrefixGroup[][] {
  const all = tokensOf(groups);
  const share = all / Math.ceil(all / maxTokens);
  const runs: PrefixGroup[][] = [];
  let run: PrefixGroup[] = [];
  let targets = 0;
  for (const group of byLength(groups)) {
    const own = sum(group.members.map(targetCount));
    targets += own;
    const length = groupTokens(group);
    const before = tokensOf(run);
    // A run comes as close to its share as it can, from below or above.
    const isFull = before + length / 2 > share || before + length > maxTokens;
    if (run.length > 0 && (isFull || targets > maxTargets)) {
      runs.push(run);
      run = [];
      targets = own;
    }
    run.push(group);
  }
  return [...runs, run];
}

function lengthOf({ sequence }: TrainingExample): number {
  return sequence.tokens.length;
}

function checkExample(example: TrainingExample, name: string, config: DecoderConfig): void {
  const { tokens, targetStart } = example.sequence;
  if (tokens.length > config.contextLength) {
    const message = `${name}.sequence has ${tokens.length} tokens, but the context length is ${config.contextLength}`;
    throw new EngineError('context_length_exceeded', message);
  }
  checkTokens(tokens, `${name}.sequence.tokens`, config);
  if (!Number.isInteger(targetStart) || targetStart < 1 || targetStart >= tokens.length) {
    throw invalid(
      `${name}.sequence.targetStart`,
      `must be a whole number of at least 1 and below the number of tokens, ${tokens.length}`,
    );
  }
  if (!Number.isFinite(example.weight) || example.weight < 0)
    throw invalid(`${name}.weight`, 'must be a number of at least 0');
  checkTargetWeights(example, name);
  if (example.softTargets === undefined) return;
  if (example.softTargets.length !== targetCount(example)) {
    throw invalid(`${name}.softTargets`, `must have one entry for each of the ${targetCount(example)} targets`);
  }
  for (const [index, soft] of example.softTargets.entries())
    checkSoftTarget(soft, `${name}.softTargets[${index}]`, config);
}

function checkTargetWeights(example: TrainingExample, name: string): void {
  const { targetWeights } = example;
  if (targetWeights === undefined) return;
  if (targetWeights.length !== targetCount(example)) {
    throw invalid(`${name}.targetWeights`, `must have one entry for each of the ${targetCount(example)} targets`);
  }
  const areWeights = targetWeights.every((weight) => Number.isFinite(weight) && weight >= 0);
  if (!areWeights || !(sum(targetWeights) > 0))
    throw invalid(`${name}.targetWeights`, 'must be numbers of at least 0, and not all of them 0');
}

function checkSoftTarget({ ids, logprobs }: TopK, name: string, config: DecoderConfig): void {
  if (ids.length === 0 || ids.length !== logprobs.length) {
    throw invalid(name, 'must have as many ids as logprobs, and at least one');
  }
  checkTokens(ids, `${name}.ids`, config);
  if (new Set(ids).size !== ids.length) throw invalid(`${name}.ids`, 'must be distinct');
  if (logprobs.some((value) => Number.isNaN(value) || value > 1e-3) || !Number.isFinite(Math.max(...logprobs))) {
    throw invalid(
      `${name}.logprobs`,
      'must be logarithms of probabilities: at most 0, and not all of them minus infinity',
    );
  }
}

/** @throws EngineError `invalid_request` naming the field. */
export function checkTokens(tokens: readonly number[], name: string, config: DecoderConfig): void {
  if (tokens.some((token) => !Number.isInteger(token) || token < 0 || token >= config.vocabularySize)) {
    throw invalid(name, `must be whole numbers below ${config.vocabularySize}`);
  }
}

function invalid(field: string, reason: string): EngineError {
  return new EngineError('invalid_request', `${field} ${reason}`);
}
