/** From training examples to the tensors of the training graph. */
import { Tensor } from 'onnxruntime-node';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import type { TopK, TrainingExample } from '../types.js';

/** Tokens of one run including padding; beyond this a larger matrix gains no speed and only takes memory. */
const MAX_RUN_TOKENS = 2048;
/** Numbers in one matrix `[supervised rows, vocabulary]`, of which a run holds about four. */
const MAX_RUN_LOGITS = 2 ** 25;

export interface TrainingBatch {
  /** Feeds of one or more runs, whose losses and gradients add up to those of the batch. */
  readonly runs: readonly Feeds[];
  /** Tokens without padding. */
  readonly tokens: number;
}

/**
 * The loss of the batch is `Σ weight · mean target loss / Σ weight` over its examples.
 * @throws EngineError `invalid_request` or `context_length_exceeded`, naming the example and its field.
 */
export function buildBatch(examples: readonly TrainingExample[], config: DecoderConfig): TrainingBatch {
  for (const [index, example] of examples.entries()) checkExample(example, `batch[${index}]`, config);
  const weightSum = examples.reduce((sum, { weight }) => sum + weight, 0);
  if (!(weightSum > 0)) throw invalid('batch', 'needs an example with a positive weight');
  return {
    runs: splitIntoRuns(examples, config).map((run) => runFeeds(run, weightSum)),
    tokens: examples.reduce((sum, { sequence }) => sum + sequence.tokens.length, 0),
  };
}

/** Examples of like length go together, so that little is spent on padding. */
function splitIntoRuns(examples: readonly TrainingExample[], config: DecoderConfig): TrainingExample[][] {
  const byLength = [...examples].sort((a, b) => b.sequence.tokens.length - a.sequence.tokens.length);
  const runs: TrainingExample[][] = [];
  let run: TrainingExample[] = [];
  let targets = 0;
  for (const example of byLength) {
    const length = run[0]?.sequence.tokens.length ?? 0;
    targets += targetCount(example);
    const tooLarge = (run.length + 1) * length > MAX_RUN_TOKENS || targets * config.vocabularySize > MAX_RUN_LOGITS;
    if (run.length > 0 && tooLarge) {
      runs.push(run);
      run = [];
      targets = targetCount(example);
    }
    run.push(example);
  }
  return [...runs, run];
}

function runFeeds(run: readonly TrainingExample[], weightSum: number): Feeds {
  const length = Math.max(...run.map(({ sequence }) => sequence.tokens.length));
  const rows = run.reduce((sum, example) => sum + targetCount(example), 0);
  const alternatives = Math.max(1, ...run.flatMap(({ softTargets = [] }) => softTargets.map(({ ids }) => ids.length)));
  const ids = new BigInt64Array(run.length * length);
  const positions = new BigInt64Array(rows);
  const targetIds = new BigInt64Array(rows * alternatives);
  const probabilities = new Float32Array(rows * alternatives);
  const weights = new Float32Array(rows);
  let row = 0;
  for (const [batchRow, example] of run.entries()) {
    const { tokens, targetStart } = example.sequence;
    ids.set(tokens.map(BigInt), batchRow * length);
    for (let index = targetStart; index < tokens.length; index += 1) {
      const target = targetDistribution(example, index);
      positions[row] = BigInt(batchRow * length + index - 1);
      targetIds.set(target.ids.map(BigInt), row * alternatives);
      probabilities.set(target.probabilities, row * alternatives);
      weights[row] = example.weight / weightSum / targetCount(example);
      row += 1;
    }
  }
  return {
    ids: new Tensor('int64', ids, [run.length, length]),
    positions: new Tensor('int64', positions, [rows]),
    'target.ids': new Tensor('int64', targetIds, [rows, alternatives]),
    'target.probabilities': new Tensor('float32', probabilities, [rows, alternatives]),
    weights: new Tensor('float32', weights, [rows]),
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

function checkTokens(tokens: readonly number[], name: string, config: DecoderConfig): void {
  if (tokens.some((token) => !Number.isInteger(token) || token < 0 || token >= config.vocabularySize)) {
    throw invalid(name, `must be whole numbers below ${config.vocabularySize}`);
  }
}

function invalid(field: string, reason: string): EngineError {
  return new EngineError('invalid_request', `${field} ${reason}.`);
}
