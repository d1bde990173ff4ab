import { isDatabaseUnavailable } from '../db/databaseErrors.js';

/**
 * Does the work for one item after the other and returns for how many it did something. What fails for one keeps none
 * of the others from their turn, and is thrown at the end; only without a database there is no use in going on.
 */
export async function eachApart(
  items: readonly string[],
  work: (item: string) => Promise<boolean>,
  stopping?: AbortSignal,
): Promise<number> {
  const failures: Error[] = [];
  let done = 0;
  for (const item of items) {
    if (stopping?.aborted === true) break;
    try {
      if (await work(item)) done += 1;
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      failures.push(new Error(`${item} failed`, { cause: error }));
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${items.length} failed`);
  return done;
}
