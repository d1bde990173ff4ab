/** From training examples to the runs of the training graph. */
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { TopK, TrainingExample } from '../types.js';
import { activationBytes, layerwiseBytes, MAX_LAYERWISE_BYTES } from './activations.js';
import { familyTokens, findFamilies, type Family } from './families.js';
import { layOut, targetCount, type TrainingRun } from './runLayout.js';

/** Batches of so many tokens are computed in two parts; smaller ones lose more than two threads gain. */
const MIN_TOKENS_IN_PARTS = 256;
/**
 * Tokens of one run of several sequences, without padding: two of them are in memory at once, and a larger matrix
 * hardly gains speed.
 */
const MAX_RUN_TOKENS = 384;
/** Numbers in one matrix `[supervised rows, vocabulary]`, of which a run holds about four; at least one row. */
const MAX_RUN_LOGITS = 2 ** 25;

export interface TrainingBatch {
  /**
   * One or two, of one or more runs each, whose losses and gradients add up to those of the batch. Two have about as
   * many tokens, and two threads may compute them; one thread does so as well, so that sums are alike.
   */
  readonly parts: readonly (readonly TrainingRun[])[];
  /** Tokens that go through the model, without padding: what several examples begin with counts once. */
  readonly tokens: number;
}

export interface BatchOptions {
  readonly maxRunTokens?: number;
  readonly maxRunLogits?: number;
}

/**
 * An example with more targets than a run may have is computed in pieces, which share its weight.
 *
 * The loss of the batch is `Σ weight · mean target loss / Σ weight` over its examples.
 * @throws EngineError `invalid_request` or `context_length_exceeded`, naming the example and its field.
 */
export function buildBatch(
  examples: readonly TrainingExample[],
  config: DecoderConfig,
  { maxRunTokens: maxTokens = MAX_RUN_TOKENS, maxRunLogits = MAX_RUN_LOGITS }: BatchOptions = {},
): TrainingBatch {
  for (const [index, example] of examples.entries()) checkExample(example, `batch[${index}]`, config);
  const weightSum = examples.reduce((sum, { weight }) => sum + weight, 0);
  if (!(weightSum > 0)) throw invalid('batch', 'needs an example with a positive weight');
  const maxTargets = maxTargetsOf(config, maxRunLogits);
  const isWhole = (example: TrainingExample): boolean => targetCount(example) <= maxTargets;
  const [whole, long] = [examples.filter(isWhole), examples.filter((example) => !isWhole(example))];
  // One family with everything in it would leave nothing for a second thread.
  const maxFamilyTokens = Math.min(config.contextLength, maxTokens, Math.ceil(sum(whole.map(lengthOf)) / 2));
  const families = findFamilies(whole, config, { maxTokens: maxFamilyTokens, maxTargets });
  const pieces = long.flatMap((example) => splitTargets(example, maxTargets)).map(alone);
  return {
    parts: halves([...families, ...pieces]).map((part) =>
      splitIntoRuns(part, { maxTokens, maxTargets }).map((run) => layOut(run, weightSum, config)),
    ),
    tokens: sum([...families.map(familyTokens), ...long.map(lengthOf)]),
  };
}

function alone(example: TrainingExample): Family {
  return { shared: 0, members: [example] };
}

/**
 * Refuses what would fit in memory neither whole nor layer by layer, even by itself: its attention grows with the
 * square of its length, and a sequence is never cut.
 * @throws EngineError `memory_exceeded`, naming the example and its tokens.
 */
export function requireRoom(
  examples: readonly TrainingExample[],
  config: DecoderConfig,
  maxActivationBytes: number,
  maxLayerwiseBytes = MAX_LAYERWISE_BYTES,
): void {
  const maxBytes = Math.max(maxActivationBytes, maxLayerwiseBytes);
  const maxTargets = maxTargetsOf(config, MAX_RUN_LOGITS);
  for (const [index, example] of examples.entries()) {
    const { length } = example.sequence.tokens;
    const targets = Math.min(targetCount(example), maxTargets);
    const run = { rows: 1, length, targets };
    if (activationBytes(config, run) <= maxActivationBytes || layerwiseBytes(config, run) <= maxBytes) continue;
    const message = `batch[${index}].sequence has ${length} tokens, which would pass the bound of ${maxBytes} bytes.`;
    throw new EngineError('memory_exceeded', message);
  }
}

/** Targets of a run at most. */
function maxTargetsOf({ vocabularySize }: DecoderConfig, maxRunLogits: number): number {
  return Math.max(1, Math.floor(maxRunLogits / vocabularySize));
}

/**
 * Pieces of at most `maxTargets` targets, whose losses and gradients add up to the example's. As no token sees those
 * after it, a piece ends with its last target.
 */
function splitTargets(example: TrainingExample, maxTargets: number): readonly TrainingExample[] {
  const targets = targetCount(example);
  const { tokens, targetStart } = example.sequence;
  return Array.from({ length: Math.ceil(targets / maxTargets) }, (_, index) => {
    const from = index * maxTargets;
    const to = Math.min(targets, from + maxTargets);
    return {
      sequence: { tokens: tokens.slice(0, targetStart + to), targetStart: targetStart + from },
      weight: (example.weight * (to - from)) / targets,
      ...(example.softTargets === undefined ? {} : { softTargets: example.softTargets.slice(from, to) }),
    };
  });
}

/** Two parts of about as many tokens: from long to short, each family goes to the part that has less. */
function halves(families: readonly Family[]): readonly (readonly Family[])[] {
  const [first, second]: [Family[], Family[]] = [[], []];
  if (families.length < 2 || tokensOf(families) < MIN_TOKENS_IN_PARTS) return [families];
  for (const family of byLength(families)) (tokensOf(first) <= tokensOf(second) ? first : second).push(family);
  return [first, second];
}

function tokensOf(families: readonly Family[]): number {
  return sum(families.map(familyTokens));
}

function byLength(families: readonly Family[]): readonly Family[] {
  return [...families].sort((a, b) => familyTokens(b) - familyTokens(a));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** What a run may have. */
interface RunLimits {
  readonly maxTokens: number;
  readonly maxTargets: number;
}

/** Families of like length go together, so that little is spent on padding, and runs have about as many tokens each. */
function splitIntoRuns(families: readonly Family[], { maxTokens, maxTargets }: RunLimits): Family[][] {
  const all = tokensOf(families);
  const share = all / Math.ceil(all / maxTokens);
  const runs: Family[][] = [];
  let run: Family[] = [];
  let targets = 0;
  for (const family of byLength(families)) {
    const own = sum(family.members.map(targetCount));
    targets += own;
    const length = familyTokens(family);
    const before = tokensOf(run);
    // A run comes as near to the share as it can, whether below it or above.
    const isFull = before + length / 2 > share || before + length > maxTokens;
    if (run.length > 0 && (isFull || targets > maxTargets)) {
      runs.push(run);
      run = [];
      targets = own;
    }
    run.push(family);
  }
  return [...runs, run];
}

function lengthOf({ sequence }: TrainingExample): number {
  return sequence.tokens.length;
}

function checkExample(example: TrainingExample, name: string, config: DecoderConfig): void {
  const { tokens, targetStart } = example.sequence;
  if (tokens.length > config.contextLength) {
    const message = `${name}.sequence has ${tokens.length} tokens; the context length is ${config.contextLength}.`;
    throw new EngineError('context_length_exceeded', message);
  }
  checkTokens(tokens, `${name}.sequence.tokens`, config);
  if (!Number.isInteger(targetStart) || targetStart < 1 || targetStart >= tokens.length) {
    throw invalid(`${name}.sequence.targetStart`, 'must be at least 1 and below the number of tokens');
  }
  if (!Number.isFinite(example.weight) || example.weight < 0) throw invalid(`${name}.weight`, 'must not be negative');
  if (example.softTargets === undefined) return;
  if (example.softTargets.length !== targetCount(example)) {
    throw invalid(`${name}.softTargets`, `must have one entry for each of the ${targetCount(example)} targets`);
  }
  for (const [index, soft] of example.softTargets.entries())
    checkSoftTarget(soft, `${name}.softTargets[${index}]`, config);
}

function checkSoftTarget({ ids, logprobs }: TopK, name: string, config: DecoderConfig): void {
  if (ids.length === 0 || ids.length !== logprobs.length) {
    throw invalid(name, 'must have as many ids as logprobs, and at least one');
  }
  checkTokens(ids, `${name}.ids`, config);
  if (new Set(ids).size !== ids.length) throw invalid(`${name}.ids`, 'must be distinct');
  if (logprobs.some((value) => Number.isNaN(value) || value > 1e-3) || !Number.isFinite(Math.max(...logprobs))) {
    throw invalid(`${name}.logprobs`, 'must be logarithms of probabilities, one of them positive');
  }
}

/** @throws EngineError `invalid_request` naming the field. */
export function checkTokens(tokens: readonly number[], name: string, config: DecoderConfig): void {
  if (tokens.some((token) => !Number.isInteger(token) || token < 0 || token >= config.vocabularySize)) {
    throw invalid(name, `must be whole numbers below ${config.vocabularySize}`);
  }
}

function invalid(field: string, reason: string): EngineError {
  return new EngineError('invalid_request', `${field} ${reason}.`);
}
