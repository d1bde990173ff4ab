/**
 * Finds the directions that an adapter must leave alone: those in which the inputs of its projections are largest for
 * texts that must stay as they are.
 */
import { EngineError, type CallOptions } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { buildInputsGraph } from '../model/inputsGraph.js';
import { loraGroups, type LoraGroup } from '../model/loraGroups.js';
import type { WeightsInUse } from '../model/sharedWeights.js';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import { Session } from '../onnx/session.js';
import { Tensor } from '../onnx/tensor.js';
import { throwIfCancelled } from '../support/cancelling.js';
import { createRandom, type Random } from '../support/random.js';
import { allFinite } from '../support/finite.js';
import type { TokenSequence } from '../types.js';
import { sum } from '../support/numbers.js';

/**
 * In chats like the shipped model's training data this many directions hold 45 % of the sum of squares of its inputs.
 */
const maxDirections = 16;
/** The most tokens that are sampled, spread over the texts. They show nearly the same as all tokens would. */
const maxSampledTokens = 512;
/** The largest share of the width to protect, so that most of a narrow model remains trainable. */
const maxProtectedShare = 0.25;
/**
 * Steps of the subspace iteration. It need not find the very largest directions, only some that hold nearly as much.
 */
const iterations = 8;
/** The share of a row's length that must remain after subtracting the rows before it. Less is rounding error. */
const minRemainder = 1e-5;

/** Directions of a projection's input. */
export interface InputDirections {
  /** `[count, width]`, orthonormal, row by row. */
  readonly rows: Float32Array;
  /** The share of the inputs' sum of squares that lies along them. */
  readonly share: number;
}

/** Directions by the projection's name (`projectionName`). */
export type ProtectedDirections = ReadonlyMap<string, InputDirections>;

/**
 * Approximates the leading right singular vectors of the inputs of each group by subspace iteration (Golub and Van
 * Loan, Matrix Computations, 8.2.4).
 * @throws EngineError `invalid_request` when there is no token; `cancelled` between runs.
 */
export async function findProtectedDirections(
  model: SampledModel,
  sequences: readonly TokenSequence[],
  groups: readonly LoraGroup[] = loraGroups(model.config),
  options: CallOptions = {},
): Promise<ProtectedDirections> {
  const inputs = await sampleInputs(model, sequences, groups, options);
  const session = await Session.create(buildIterationGraph(), { threads: model.threads });
  const directions = new Map<string, InputDirections>();
  try {
    for (const { group, rows } of inputs) {
      throwIfCancelled(options);
      const found = await leadingDirections(session, rows, group.width);
      for (const { name } of group.parts) directions.set(name, found);
    }
  } finally {
    session.release();
  }
  return directions;
}

export interface SampledModel {
  readonly config: DecoderConfig;
  readonly weights: Pick<WeightsInUse, 'format' | 'feeds'>;
  readonly threads: number;
}

interface SampledInputs {
  readonly group: LoraGroup;
  /** `[tokens, width]` */
  readonly rows: Float32Array;
}

async function sampleInputs(
  { config, weights, threads }: SampledModel,
  sequences: readonly TokenSequence[],
  groups: readonly LoraGroup[],
  options: CallOptions,
): Promise<readonly SampledInputs[]> {
  const tokens = sum(sequences.map((sequence) => sequence.tokens.length));
  if (tokens === 0) throw new EngineError('invalid_request', 'protectedDirections must hold at least one token');
  const count = Math.min(maxSampledTokens, tokens);
  const inputs = groups.map((group) => ({ group, rows: new Float32Array(count * group.width) }));
  const session = await Session.create(buildInputsGraph(config, groups, weights), { threads });
  try {
    let seen = 0;
    let taken = 0;
    for (const { tokens: ids } of sequences) {
      const isChosen = (index: number): boolean =>
        Math.floor(((seen + index + 1) * count) / tokens) > Math.floor(((seen + index) * count) / tokens);
      const positions = Array.from(ids, (_, index) => index).filter(isChosen);
      if (positions.length > 0) {
        throwIfCancelled(options);
        const chosen = {
          ids: new Tensor(BigInt64Array.from(ids, BigInt), [1, ids.length]),
          positions: new Tensor(BigInt64Array.from(positions, BigInt), [positions.length]),
        };
        const results = inputs.map(({ group: { name, width }, rows }) => {
          const place = rows.subarray(taken * width, (taken + positions.length) * width);
          return [name, new Tensor(place, [positions.length, width])] as const;
        });
        await session.run([weights.feeds, chosen], [Object.fromEntries(results)]);
      }
      seen += ids.length;
      taken += positions.length;
    }
  } finally {
    session.release();
  }
  return inputs;
}

async function leadingDirections(session: Session, rows: Float32Array, width: number): Promise<InputDirections> {
  const height = rows.length / width;
  const count = Math.max(1, Math.min(maxDirections, height, Math.floor(maxProtectedShare * width)));
  const random = createRandom(1);
  let directions: Float32Array = Float32Array.from({ length: count * width }, () => random.next() - 0.5);
  const x = new Tensor(rows, [height, width]);
  const iterate = async (): Promise<Float32Array> => {
    // With a number that is not finite no row would ever become orthogonal.
    if (!allFinite(directions)) throw new EngineError('internal', 'the model computed a number that is not finite');
    orthonormalise(directions, width, random);
    const y = new Float32Array(count * width);
    const feeds = { x, directions: new Tensor(directions, [count, width]) };
    await session.run([feeds], [{ y: new Tensor(y, [count, width]) }]);
    return y;
  };
  for (let iteration = 0; iteration < iterations; iteration += 1) directions = await iterate();
  // The sum of squares along a direction d of length 1 is d Xᵀ X dᵀ.
  const held = dot(directions, await iterate());
  return { rows: directions, share: Math.min(1, held / Math.max(dot(rows, rows), Number.MIN_VALUE)) };
}

/** `(D Xᵀ) X` for directions D `[K, width]` and inputs X `[N, width]`. */
function buildIterationGraph(): Buffer {
  const graph = new GraphBuilder();
  graph.input('x', 'float32', ['N', 'width']);
  graph.input('directions', 'float32', ['K', 'width']);
  const along = graph.microsoftNode('FusedMatMul', ['directions', 'x'], { transB: { int: 1 } });
  graph.output('y', graph.node('MatMul', [along, 'x']), 'float32', ['K', 'width']);
  return graph.encode();
}

/**
 * Orthonormalises rows by Gram and Schmidt, twice, because once is not exact enough. A row that is nearly a sum of the
 * rows before it starts again at random, because zero would stay zero. That happens to all rows if one direction is
 * much larger than the others.
 */
function orthonormalise(rows: Float32Array, width: number, random: Random): void {
  for (let start = 0; start < rows.length; start += width) {
    const row = rows.subarray(start, start + width);
    const makeOrthogonal = (): boolean => {
      const before = norm(row);
      for (let round = 0; round < 2; round += 1) {
        for (let other = 0; other < start; other += width) subtractAlong(row, rows.subarray(other, other + width));
      }
      return norm(row) > minRemainder * before;
    };
    while (!makeOrthogonal()) for (let index = 0; index < width; index += 1) row[index] = random.next() - 0.5;
    const length = norm(row);
    for (let index = 0; index < width; index += 1) row[index] = (row[index] ?? 0) / length;
  }
}

/** Subtracts from `row` its part along a direction of length 1. */
export function subtractAlong(row: Float32Array, direction: Float32Array): void {
  const part = dot(row, direction);
  for (let index = 0; index < row.length; index += 1) row[index] = (row[index] ?? 0) - part * (direction[index] ?? 0);
}

function norm(row: Float32Array): number {
  return Math.sqrt(dot(row, row));
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}
