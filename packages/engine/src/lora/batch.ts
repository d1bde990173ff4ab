/** From training examples to the tensors of the training graph. */
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import { Tensor } from '../onnx/tensor.js';
import type { TopK, TrainingExample } from '../types.js';
import { activationBytes, layerwiseBytes, MAX_LAYERWISE_BYTES } from './activations.js';
import { packRows, type PackedRows } from './packing.js';

/** Batches of so many tokens are computed in two parts; smaller ones lose more than two threads gain. */
const MIN_TOKENS_IN_PARTS = 256;
/** Tokens of one run of several sequences, without padding: two of them are in memory at once, and a larger matrix hardly gains speed. */
const MAX_RUN_TOKENS = 384;
/** Numbers in one matrix `[supervised rows, vocabulary]`, of which a run holds about four; at least one row. */
const MAX_RUN_LOGITS = 2 ** 25;

/** What one run of the training graph computes. */
export interface TrainingRun {
  /** See `buildTrainingGraph`; with `segments` and `places` in any case. */
  readonly feeds: Feeds;
  /** Whether rows hold several sequences. */
  readonly packed: boolean;
  readonly rows: number;
  /** Tokens of a row, padding included. */
  readonly length: number;
  readonly targets: number;
}

export interface TrainingBatch {
  /**
   * One or two, of one or more runs each, whose losses and gradients add up to those of the batch. Two have about as many tokens, and two
   * threads may compute them; one thread does so as well, so that sums are alike.
   */
  readonly parts: readonly (readonly TrainingRun[])[];
  /** Tokens of the examples, without padding. */
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
  const pieces = examples.flatMap((example) => splitTargets(example, maxTargets));
  return {
    parts: halves(pieces).map((part) =>
      splitIntoRuns(part, { maxTokens, maxTargets }).map((run) => layOut(run, weightSum, config)),
    ),
    tokens: tokensOf(examples),
  };
}

/**
 * Refuses what would fit in memory neither whole nor layer by layer, even by itself: its attention grows with the square of its length,
 * and a sequence is never cut.
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
 * Pieces of at most `maxTargets` targets, whose losses and gradients add up to the example's. As no token sees those after
 * it, a piece ends with its last target.
 */
function splitTargets(example: TrainingExample, maxTargets: number): readonly TrainingExample[] {
  const targets = targetCount(example);
  if (targets <= maxTargets) return [example];
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

/** Two parts of about as many tokens: from long to short, each example goes to the part that has less. */
function halves(examples: readonly TrainingExample[]): readonly (readonly TrainingExample[])[] {
  const [first, second]: [TrainingExample[], TrainingExample[]] = [[], []];
  if (examples.length < 2 || tokensOf(examples) < MIN_TOKENS_IN_PARTS) return [examples];
  for (const example of byLength(examples)) (tokensOf(first) <= tokensOf(second) ? first : second).push(example);
  return [first, second];
}

function tokensOf(examples: readonly TrainingExample[]): number {
  return examples.reduce((sum, { sequence }) => sum + sequence.tokens.length, 0);
}

function byLength(examples: readonly TrainingExample[]): readonly TrainingExample[] {
  return [...examples].sort((a, b) => b.sequence.tokens.length - a.sequence.tokens.length);
}

/** What a run may have. */
interface RunLimits {
  readonly maxTokens: number;
  readonly maxTargets: number;
}

/** Examples of like length go together, so that little is spent on padding, and runs have about as many tokens each. */
function splitIntoRuns(
  examples: readonly TrainingExample[],
  { maxTokens, maxTargets }: RunLimits,
): TrainingExample[][] {
  const all = tokensOf(examples);
  const share = all / Math.ceil(all / maxTokens);
  const runs: TrainingExample[][] = [];
  let run: TrainingExample[] = [];
  let targets = 0;
  for (const example of byLength(examples)) {
    targets += targetCount(example);
    const { length } = example.sequence.tokens;
    const before = tokensOf(run);
    // As near to the share as can be, whether below it or above.
    const isFull = before + length / 2 > share || before + length > maxTokens;
    if (run.length > 0 && (isFull || targets > maxTargets)) {
      runs.push(run);
      run = [];
      targets = targetCount(example);
    }
    run.push(example);
  }
  return [...runs, run];
}

function layOut(run: readonly TrainingExample[], weightSum: number, config: DecoderConfig): TrainingRun {
  const layout = packRows(
    run.map(({ sequence }) => sequence.tokens.length),
    config,
  );
  const packed = layout.rows < run.length;
  const { rows, length } = layout;
  const feeds = { ...tokenFeeds(run, layout), ...targetFeeds(run, layout, weightSum) };
  return { feeds, packed, rows, length, targets: run.reduce((sum, example) => sum + targetCount(example), 0) };
}

function tokenFeeds(run: readonly TrainingExample[], { rows, length, places }: PackedRows): Feeds {
  const ids = new BigInt64Array(rows * length);
  const segments = new BigInt64Array(rows * length);
  const indices = new BigInt64Array(rows * length);
  for (const [index, { sequence }] of run.entries()) {
    const { row, offset } = places[index] ?? { row: 0, offset: 0 };
    const start = row * length + offset;
    ids.set(sequence.tokens.map(BigInt), start);
    // Padding keeps the segment 0.
    segments.fill(BigInt(index + 1), start, start + sequence.tokens.length);
    for (let token = 0; token < sequence.tokens.length; token += 1) indices[start + token] = BigInt(token);
  }
  const tensor = (data: BigInt64Array) => new Tensor(data, [rows, length]);
  return { ids: tensor(ids), segments: tensor(segments), places: tensor(indices) };
}

function targetFeeds(run: readonly TrainingExample[], { length, places }: PackedRows, weightSum: number): Feeds {
  const rows = run.reduce((sum, example) => sum + targetCount(example), 0);
  const alternatives = Math.max(1, ...run.flatMap(({ softTargets = [] }) => softTargets.map(({ ids }) => ids.length)));
  const positions = new BigInt64Array(rows);
  const targetIds = new BigInt64Array(rows * alternatives);
  const probabilities = new Float32Array(rows * alternatives);
  const weights = new Float32Array(rows);
  let row = 0;
  for (const [index, example] of run.entries()) {
    const { tokens, targetStart } = example.sequence;
    const place = places[index] ?? { row: 0, offset: 0 };
    const start = place.row * length + place.offset;
    for (let token = targetStart; token < tokens.length; token += 1) {
      const target = targetDistribution(example, token);
      positions[row] = BigInt(start + token - 1);
      targetIds.set(target.ids.map(BigInt), row * alternatives);
      probabilities.set(target.probabilities, row * alternatives);
      weights[row] = example.weight / weightSum / targetCount(example);
      row += 1;
    }
  }
  return {
    positions: new Tensor(positions, [rows]),
    'target.ids': new Tensor(targetIds, [rows, alternatives]),
    'target.probabilities': new Tensor(probabilities, [rows, alternatives]),
    weights: new Tensor(weights, [rows]),
  };
}

/** The distribution that the token at `index` is drawn from: the teacher's, or all on the token itself. */
function targetDistribution(
  example: TrainingExample,
  index: number,
): { ids: readonly number[]; probabilities: number[] } {
  const { tokens, targetStart } = example.sequence;
  const soft = example.softTargets?.[index - targetStart];
  if (soft === undefined) return { ids: [tokens[index] ?? 0], probabilities: [1] };
  const greatest = Math.max(...soft.logprobs);
  const unnormalised = soft.logprobs.map((logprob) => Math.exp(logprob - greatest));
  const sum = unnormalised.reduce((total, value) => total + value, 0);
  return { ids: soft.ids, probabilities: unnormalised.map((value) => value / sum) };
}

function targetCount({ sequence }: TrainingExample): number {
  return sequence.tokens.length - sequence.targetStart;
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
