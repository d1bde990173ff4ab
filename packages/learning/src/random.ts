/** Seeded randomness. A job uses nothing else, so the same job gives the same result. */
import { createRandom } from '@engraft/engine/random';

/** FNV-1a over the parts: an unsigned 32-bit seed for one named use of a job's seed. */
export function deriveSeed(seed: number, ...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const character of [seed, ...parts].join('\u0000')) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return hash >>> 0;
}

/** Uniform numbers in [0, 1). */
export function randomNumbers(seed: number): () => number {
  const random = createRandom(seed);
  return () => random.next();
}

/** A new array in random order, sorted by a random key for each item. */
export function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const keyed = items.map((item) => ({ item, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

/** Returns `count` items (all, if there are fewer), spread evenly over the list. */
export function spreadSample<Item>(items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items];
  return items.filter(
    (_, index) => Math.floor(((index + 1) * count) / items.length) > Math.floor((index * count) / items.length),
  );
}

/** Walks over the items endlessly, each round in a new random order. It yields nothing if there are no items. */
export function* endlessRounds<Item>(items: readonly Item[], random: () => number): Generator<Item, undefined> {
  while (items.length > 0) yield* shuffled(items, random);
  return undefined;
}
