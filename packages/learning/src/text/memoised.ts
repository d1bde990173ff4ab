const maxKnown = 10_000;

/**
 * Finds something about a word once, since the language library takes some milliseconds. `known` is cleared when it
 * grows large.
 */
export function memoised<Found>(known: Map<string, Found>, word: string, find: () => Found): Found {
  const earlier = known.get(word);
  if (earlier !== undefined) return earlier;
  const found = find();
  if (known.size >= maxKnown) known.clear();
  known.set(word, found);
  return found;
}
