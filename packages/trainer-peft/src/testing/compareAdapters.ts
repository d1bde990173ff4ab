/** Compares adapters by their numbers and by what they do, for tests. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { AdapterReference, Engine, TokenSequence } from '@engraft/engine';

/** The matrices in F32, all of them one after the other, as the engine writes them. */
export async function numbersOf({ folder }: AdapterReference): Promise<Float32Array> {
  const file = await readFile(path.join(folder, 'adapter_model.safetensors'));
  const start = 8 + Number(file.readBigUInt64LE(0));
  return new Float32Array(new Uint8Array(file.subarray(start)).buffer);
}

/** The distance of two vectors as a share of the length of the first. */
export function relativeDistance(one: Float32Array, other: Float32Array): number {
  let distance = 0;
  let length = 0;
  for (const [index, value] of one.entries()) {
    distance += (value - (other[index] ?? Infinity)) ** 2;
    length += value ** 2;
  }
  return Math.sqrt(distance / length);
}

/** The greatest difference of the log-probabilities that an engine gives under two adapters, and how far base is. */
export async function compareServed(
  engine: Engine,
  sequences: readonly TokenSequence[],
  one: AdapterReference,
  other: AdapterReference,
): Promise<{ readonly difference: number; readonly effect: number }> {
  const score = async (adapter: AdapterReference | null): Promise<readonly number[]> =>
    (await engine.score({ sequences, adapter, topK: 0 })).flatMap(({ logprobs }) => logprobs);
  const [base, first, second] = [await score(null), await score(one), await score(other)];
  const greatest = (a: readonly number[], b: readonly number[]): number =>
    Math.max(...a.map((value, index) => Math.abs(value - (b[index] ?? Infinity))));
  return { difference: greatest(first, second), effect: greatest(first, base) };
}
