/** Adapters in memory, arranged as generation and scoring use them. */
import type { DecoderConfig } from '../model/config.js';
import { loraGroups, type LoraGroup } from '../model/loraGroups.js';
import { projectionName, type LoraModule } from '../model/weights.js';
import { getOrCreate } from '../support/getOrCreate.js';
import { sum } from '../support/numbers.js';
import type { AdapterReference } from '../types.js';
import { readAdapter } from './adapterFolder.js';
import { joinedAt, joinedSize, rankStep, writePart, type JoinedMatrices, type MatrixPair } from './joinedMatrices.js';
import type { LoraAdapter } from './loraAdapter.js';
import { scales } from './loraModules.js';

/** A verified adapter whose B matrices are already multiplied by alpha / rank. */
export interface LoadedAdapter {
  readonly contentHash: string;
  /**
   * Matrices by the name of each `LoraGroup` that the adapter changes at least in part. Each part has its own rank,
   * rounded up.
   */
  readonly groups: ReadonlyMap<string, JoinedMatrices>;
}

/**
 * @param memory see `prepareAdapter`.
 * @throws EngineError `adapter_damaged`, `adapter_invalid` or `memory_exceeded`, see `readAdapter`.
 */
export async function loadAdapter(
  reference: AdapterReference,
  config: DecoderConfig,
  memory?: ArrayBuffer,
): Promise<LoadedAdapter> {
  const preparedBytes = (modules: readonly LoraModule[]): number => {
    const ranks = new Map(modules.map(({ layer, projection, rank }) => [projectionName(layer, projection), rank]));
    return numbersIn(adaptedGroups(config, (name) => ranks.get(name) ?? 0)) * Float32Array.BYTES_PER_ELEMENT;
  };
  return prepareAdapter(reference.contentHash, await readAdapter(reference, config, { preparedBytes }), config, memory);
}

const sizes = new WeakMap<LoadedAdapter, number>();

/** Counted once for each adapter, because a long queue of requests asks for it at every step. */
export function adapterBytes(adapter: LoadedAdapter): number {
  return getOrCreate(sizes, adapter, () =>
    sum([...adapter.groups.values()].map(({ a, b }) => a.byteLength + b.byteLength)),
  );
}

/**
 * Puts all matrices into one piece of memory. Adapters come and go, and a hundred small pieces each cost more than
 * copying them. B is multiplied by its module's scale, so that adapters of different scale can share a batch.
 * @param memory memory that nobody uses, taken if it has the right size.
 */
export function prepareAdapter(
  contentHash: string,
  adapter: LoraAdapter,
  config: DecoderConfig,
  memory?: ArrayBuffer,
): LoadedAdapter {
  const scaleOf = scales(adapter);
  const adapted = adaptedGroups(config, (name) => pairOf(adapter, name)?.a.shape[0] ?? 0);
  const numbers = numbersIn(adapted);
  const fits = memory?.byteLength === numbers * Float32Array.BYTES_PER_ELEMENT;
  const data = fits ? new Float32Array(memory).fill(0) : new Float32Array(numbers);
  const groups = new Map<string, JoinedMatrices>();
  let start = 0;
  for (const { group, ranks } of adapted) {
    const joined = joinedAt(data, start, group, ranks);
    for (const [part, { name }] of group.parts.entries()) {
      const pair = pairOf(adapter, name);
      if (pair !== undefined) writePart(group, joined, part, pair, scaleOf(name));
    }
    groups.set(group.name, joined);
    start += joinedSize(group, ranks);
  }
  return { contentHash, groups };
}

/** The buffers that hold the matrices. */
export function memoryOf({ groups }: LoadedAdapter): ArrayBuffer[] {
  const buffers = [...groups.values()].map(({ a: { buffer } }) => buffer);
  return [...new Set(buffers.filter((buffer) => buffer instanceof ArrayBuffer))];
}

interface AdaptedGroup {
  readonly group: LoraGroup;
  /** See `JoinedMatrices`. */
  readonly ranks: readonly number[];
}

/** @param rankOf the rank of the projection of this name, 0 if it is not adapted. */
function adaptedGroups(config: DecoderConfig, rankOf: (name: string) => number): readonly AdaptedGroup[] {
  return loraGroups(config).flatMap((group) => {
    const ranks = group.parts.map(({ name }) => roundedUp(rankOf(name)));
    return sum(ranks) === 0 ? [] : [{ group, ranks }];
  });
}

function numbersIn(adapted: readonly AdaptedGroup[]): number {
  return sum(adapted.map(({ group, ranks }) => joinedSize(group, ranks)));
}

function pairOf({ matrices }: LoraAdapter, name: string): MatrixPair | undefined {
  const [a, b] = [matrices.get(`${name}.lora_A`), matrices.get(`${name}.lora_B`)];
  return a === undefined || b === undefined ? undefined : { a, b };
}

/** The rank that a matrix is padded to. The padding holds zeros, which add nothing. */
function roundedUp(rank: number): number {
  return Math.ceil(rank / rankStep) * rankStep;
}
