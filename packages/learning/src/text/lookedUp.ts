const maxKnown = 10_000;

/**
 * What is found of a word, once: asking the language library takes some milliseconds. `known` is forgotten when it
 * grows large.
 */
export function lookedUp<Found>(known: Map<string, Found>, word: string, find: () => Found): Found {
  const earlier = known.get(word);
  if (earlier !== undefined) return earlier;
  const found = find();
  if (known.size >= maxKnown) known.clear();
  known.set(word, found);
  return found;
}
