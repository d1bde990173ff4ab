/**
 * What an adapter is to leave alone: the directions in which the inputs of its projections are largest, of texts that
 * are to stay as they are.
 */
import { EngineError, type CallOptions } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { buildInputsGraph } from '../model/inputsGraph.js';
import { loraGroups, type LoraGroup } from '../model/loraGroups.js';
import type { WeightsInUse } from '../model/sharedWeights.js';
import { GraphBuilder } from '../onnx/graphBuilder.js';
import { Session } from '../onnx/session.js';
import { Tensor } from '../onnx/tensor.js';
import { createRandom, type Random } from '../random.js';
import { allFinite } from '../finite.js';
import type { TokenSequence } from '../types.js';
import { throwIfCancelled } from './gradientRunner.js';

/** This many directions hold 45 % of the sum of squares of the shipped model's inputs, in chats of its own training. */
const DIRECTIONS = 16;
/** Tokens whose inputs are looked at, spread over the texts; what they show of all is nearly what all would. */
const TOKENS = 512;
/** At most this share of the width is spared, so that most of a narrow model is left to be trained. */
const GREATEST_SHARE = 0.25;
/** Steps of the subspace iteration; it need not find the very largest, but what holds nearly as much. */
const ITERATIONS = 8;
/** The share of a row's length that must be left once the rows before it are taken away; less is rounding. */
const LEAST_REST = 1e-5;

/** Directions of a projection's input. */
export interface InputDirections {
  /** `[count, width]`, orthonormal, row by row. */
  readonly rows: Float32Array;
  /** Their share of the sum of squares of the inputs. */
  readonly share: number;
}

/** Directions by the projection's name (`projectionName`). */
export type SparedDirections = ReadonlyMap<string, InputDirections>;

/**
 * For the projections of each `LoraGroup` about the leading right singular vectors of their inputs, by subspace
 * iteration (Golub and Van Loan, Matrix Computations, 8.2.4).
 * @throws EngineError `invalid_request` when there is no token; `cancelled` between runs.
 */
export async function sparedDirections(
  model: SampledModel,
  sequences: readonly TokenSequence[],
  options: CallOptions = {},
): Promise<SparedDirections> {
  const inputs = await sampleInputs(model, sequences, options);
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
  options: CallOptions,
): Promise<readonly SampledInputs[]> {
  const tokens = sequences.reduce((sum, sequence) => sum + sequence.tokens.length, 0);
  if (tokens === 0) throw new EngineError('invalid_request', 'spared must have a token');
  const count = Math.min(TOKENS, tokens);
  const inputs = loraGroups(config).map((group) => ({ group, rows: new Float32Array(count * group.width) }));
  const session = await Session.create(buildInputsGraph(config, weights), { threads });
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
  const count = Math.max(1, Math.min(DIRECTIONS, height, Math.floor(GREATEST_SHARE * width)));
  const random = createRandom(1);
  let directions: Float32Array = Float32Array.from({ length: count * width }, () => random.next() - 0.5);
  const x = new Tensor(rows, [height, width]);
  const iterate = async (): Promise<Float32Array> => {
    // If a number is not finite, no row ever becomes orthogonal.
    if (!allFinite(directions)) throw new EngineError('internal', 'the model computed a number that is not finite');
    orthonormalise(directions, width, random);
    const y = new Float32Array(count * width);
    const feeds = { x, directions: new Tensor(directions, [count, width]) };
    await session.run([feeds], [{ y: new Tensor(y, [count, width]) }]);
    return y;
  };
  for (let iteration = 0; iteration < ITERATIONS; iteration += 1) directions = await iterate();
  // For a direction d of length 1 the sum of squares along it is d Xᵀ X dᵀ.
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
 * Rows, by Gram and Schmidt, twice, as once is not exact enough. One that is nearly a sum of those before it, as all
 * are where one direction is much larger than the others, begins anew: zero would stay zero.
 */
function orthonormalise(rows: Float32Array, width: number, random: Random): void {
  for (let start = 0; start < rows.length; start += width) {
    const row = rows.subarray(start, start + width);
    const makeOrthogonal = (): boolean => {
      const before = norm(row);
      for (let round = 0; round < 2; round += 1) {
        for (let other = 0; other < start; other += width) subtractAlong(row, rows.subarray(other, other + width));
      }
      return norm(row) > LEAST_REST * before;
    };
    while (!makeOrthogonal()) for (let index = 0; index < width; index += 1) row[index] = random.next() - 0.5;
    const length = norm(row);
    for (let index = 0; index < width; index += 1) row[index] = (row[index] ?? 0) / length;
  }
}

/** Takes away from `row` its part along a direction of length 1. */
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
