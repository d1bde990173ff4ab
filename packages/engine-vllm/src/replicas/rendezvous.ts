/** Rendezvous hashing (Thaler and Ravishankar, 1998): each key has its own order of places, and keeps it. */
import { createHash } from 'node:crypto';

/** The same places in the order in which `key` prefers them. A place that goes takes only its own keys along. */
export function inOrderOf<Place>(key: string, places: readonly Place[], nameOf: (place: Place) => string): Place[] {
  const weighed = places.map((place) => ({ place, weight: weightOf(key, nameOf(place)) }));
  return weighed.sort((a, b) => (a.weight < b.weight ? 1 : -1)).map(({ place }) => place);
}

function weightOf(key: string, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([key, name]))
    .digest('hex');
}
