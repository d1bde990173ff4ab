import { AdapterStoreMissing } from '../adapterStore/adapterStoreMissing.js';
import { AdapterStoreUnavailable } from '../adapterStore/adapterStoreUnavailable.js';
import { isDatabaseUnavailable } from '../db/databaseErrors.js';

/**
 * Does the work for one item after the other, and returns how many times it did something. A failure does not stop the
 * others, and is thrown at the end. Only a database or a store of adapters that is away ends it at once: the others
 * would wait for it as long, and the duties after them, too. A store that refuses an adapter answers for the others.
 */
export async function forEachIndependently(
  items: Iterable<string> | AsyncIterable<string>,
  work: (item: string) => Promise<boolean>,
  stopping?: AbortSignal,
): Promise<number> {
  const left = (async function* () {
    yield* items;
  })();
  return repeatIndependently(async (begin) => {
    const next = await left.next();
    if (next.done === true) return false;
    begin(next.value);
    return work(next.value);
  }, stopping);
}

/** Does the same for items that are found one by one: `work` calls `begin` with the next one, if there is any. */
export async function repeatIndependently(
  work: (begin: (item: string) => void) => Promise<boolean>,
  stopping?: AbortSignal,
): Promise<number> {
  const failures: Error[] = [];
  let [done, begun] = [0, 0];
  while (stopping?.aborted !== true) {
    const items: string[] = [];
    try {
      if (await work((item) => items.push(item))) done += 1;
    } catch (error) {
      if (items.length === 0 || failsForAll(error)) throw error;
      failures.push(new Error(`${items.at(-1)} failed`, { cause: error }));
    }
    if (items.length === 0) break;
    begun += 1;
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${begun} failed`);
  return done;
}

function failsForAll(error: unknown): boolean {
  const isAway = error instanceof AdapterStoreUnavailable && !error.isRefused;
  return isAway || isDatabaseUnavailable(error) || error instanceof AdapterStoreMissing;
}
