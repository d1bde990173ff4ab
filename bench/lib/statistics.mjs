// What is made of repeated measurements.

/** The value below which the share `q` of the values lies, by linear interpolation between the two nearest. */
export function quantile(values, q) {
  if (values.length === 0) throw new Error('there is no quantile of nothing');
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * q;
  const below = sorted[Math.floor(place)];
  return below + (sorted[Math.ceil(place)] - below) * (place - Math.floor(place));
}

export function median(values) {
  return quantile(values, 0.5);
}

/**
 * The median of the ratios of values measured side by side. Load that comes and goes slows both of a pair alike, so
 * this is steadier than the ratio of two medians.
 */
export function pairedRatio(values, peers) {
  if (values.length !== peers.length) throw new Error(`${values.length} values cannot be paired with ${peers.length}`);
  return median(values.map((value, index) => value / peers[index]));
}

/** The items by what `nameOf` makes of them. */
export function groupBy(items, nameOf) {
  const groups = {};
  for (const item of items) (groups[nameOf(item)] ??= []).push(item);
  return groups;
}

/** The values in another order, the same for the same `random` (numbers in [0, 1)). */
export function shuffled(values, random) {
  const result = [...values];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other], result[last]];
  }
  return result;
}
