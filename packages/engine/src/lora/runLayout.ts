/** Turns groups of examples into the tensors of one run of the training graph. */
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import { Tensor } from '../onnx/tensor.js';
import type { TrainingExample } from '../types.js';
import { sum } from '../support/numbers.js';
import { groupTokens, type PrefixGroup } from './prefixGroups.js';
import { packRows, type PackedRows } from './packing.js';

/** The batch rows that the training graph computes in one run. */
export interface TrainingRun {
  /** See `buildTrainingGraph`. Always has `segments`, `trunks` and `places`. */
  readonly feeds: Feeds;
  /** Whether rows hold several sequences, or sequences that continue others. */
  readonly packed: boolean;
  readonly rows: number;
  /** Tokens of a row, padding included. */
  readonly length: number;
  readonly targets: number;
}

export interface LaidOutRun extends TrainingRun {
  readonly sequences: readonly PlacedSequence[];
}

/** A sequence's place among the tokens of a run. */
export interface PlacedSequence {
  readonly tokens: readonly number[];
  /** The position of its first `shared` tokens, which its group has in common. */
  readonly trunkStart: number;
  readonly shared: number;
  /** The position of the first token of its own. */
  readonly start: number;
}

/** @param weightSum the sum over all examples of the batch. */
export function layOut(run: readonly PrefixGroup[], weightSum: number, config: DecoderConfig): LaidOutRun {
  const layout = packRows(run.map(groupTokens), config);
  const { rows, length } = layout;
  const placed = placeMembers(run, layout);
  return {
    feeds: { ...tokenFeeds(placed, layout), ...targetFeeds(placed, weightSum) },
    packed: rows < placed.length,
    rows,
    length,
    targets: sum(placed.map(({ example }) => targetCount(example))),
    sequences: placed,
  };
}

interface PlacedExample extends PlacedSequence {
  readonly example: TrainingExample;
}

function placeMembers(run: readonly PrefixGroup[], { length, places }: PackedRows): readonly PlacedExample[] {
  return run.flatMap(({ shared, members }, index) => {
    const { row, offset } = places[index] ?? { row: 0, offset: 0 };
    const trunkStart = row * length + offset;
    let next = trunkStart + shared;
    return members.map((example): PlacedExample => {
      const start = next;
      next += example.sequence.tokens.length - shared;
      return { example, tokens: example.sequence.tokens, trunkStart, shared, start };
    });
  });
}

function tokenFeeds(placed: readonly PlacedExample[], { rows, length }: PackedRows): Feeds {
  const empty = (): BigInt64Array => new BigInt64Array(rows * length);
  const [ids, segments, trunks, places] = [empty(), empty(), empty(), empty()];
  // Padding keeps segment 0.
  let segment = 0n;
  let trunk = 0n;
  for (const { example, trunkStart, shared, start } of placed) {
    const { tokens } = example.sequence;
    const write = (at: number, from: number, to: number): void => {
      segment += 1n;
      for (let token = from; token < to; token += 1) {
        ids[at + token - from] = BigInt(tokens[token] ?? 0);
        segments[at + token - from] = segment;
        places[at + token - from] = BigInt(token);
      }
    };
    // The first member of a group writes the shared tokens.
    if (shared > 0 && start === trunkStart + shared) {
      write(trunkStart, 0, shared);
      trunk = segment;
      trunks.fill(trunk, trunkStart, start);
    }
    write(start, shared, tokens.length);
    trunks.fill(shared > 0 ? trunk : segment, start, start + tokens.length - shared);
  }
  const tensor = (data: BigInt64Array): Tensor => new Tensor(data, [rows, length]);
  return { ids: tensor(ids), segments: tensor(segments), trunks: tensor(trunks), places: tensor(places) };
}

function targetFeeds(placed: readonly PlacedExample[], weightSum: number): Feeds {
  const rows = sum(placed.map(({ example }) => targetCount(example)));
  const alternatives = Math.max(
    1,
    ...placed.flatMap(({ example: { softTargets = [] } }) => softTargets.map(({ ids }) => ids.length)),
  );
  const positions = new BigInt64Array(rows);
  const targetIds = new BigInt64Array(rows * alternatives);
  const probabilities = new Float32Array(rows * alternatives);
  const weights = new Float32Array(rows);
  let row = 0;
  for (const { example, shared, start } of placed) {
    const { tokens, targetStart } = example.sequence;
    const targetWeightSum = sumOfTargetWeights(example);
    for (let token = targetStart; token < tokens.length; token += 1) {
      const target = targetDistribution(example, token);
      // A token that predicts a target is never shared.
      positions[row] = BigInt(start + token - 1 - shared);
      targetIds.set(target.ids.map(BigInt), row * alternatives);
      probabilities.set(target.probabilities, row * alternatives);
      const targetWeight = example.targetWeights?.[token - targetStart] ?? 1;
      weights[row] = ((example.weight / weightSum) * targetWeight) / targetWeightSum;
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

/** The target distribution of the token at `index`: the teacher's, or all on the token itself. */
function targetDistribution(
  example: TrainingExample,
  index: number,
): { ids: readonly number[]; probabilities: number[] } {
  const { tokens, targetStart } = example.sequence;
  const soft = example.softTargets?.[index - targetStart];
  if (soft === undefined) return { ids: [tokens[index] ?? 0], probabilities: [1] };
  const greatest = Math.max(...soft.logprobs);
  const unnormalised = soft.logprobs.map((logprob) => Math.exp(logprob - greatest));
  const total = sum(unnormalised);
  return { ids: soft.ids, probabilities: unnormalised.map((value) => value / total) };
}

export function sumOfTargetWeights(example: TrainingExample): number {
  return example.targetWeights === undefined ? targetCount(example) : sum(example.targetWeights);
}

export function targetCount({ sequence }: TrainingExample): number {
  return sequence.tokens.length - sequence.targetStart;
}
