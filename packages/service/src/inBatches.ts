interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Does work for many callers at once. The first caller of a name is served at once. Those that come meanwhile wait for
 * that work to end, and are then served together, so nobody gets what was read before they asked.
 * @param work gives a result for each item, in their order. Where it throws, each of its callers gets that error.
 * @param pause how long those who wait then wait for more to come, which makes fewer batches of them
 */
export function inBatches<Item, Result>(
  nameOf: (item: Item) => string,
  work: (items: readonly [Item, ...Item[]]) => Promise<readonly Result[]>,
  pause?: () => Promise<void>,
): (item: Item) => Promise<Result> {
  /** A name has an entry while there is work for it. */
  const waiting = new Map<string, Waiting<Item, Result>[]>();

  const serve = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    const [first, ...others] = batch.map(({ item }) => item);
    if (first === undefined) throw new Error('a batch is not empty');
    try {
      const results = await work([first, ...others]);
      if (results.length !== batch.length) throw new Error(`${batch.length} items have ${results.length} results`);
      for (const [index, result] of results.entries()) batch[index]?.resolve(result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  const serveAll = async (name: string, first: Waiting<Item, Result>): Promise<void> => {
    for (let batch = [first]; batch.length > 0; batch = waiting.get(name) ?? []) {
      waiting.set(name, []);
      await serve(batch);
      const isWaiting = (waiting.get(name) ?? []).length > 0;
      if (isWaiting) await pause?.();
    }
    waiting.delete(name);
  };

  return (item) =>
    new Promise((resolve, reject) => {
      const name = nameOf(item);
      const caller = { item, resolve, reject };
      const others = waiting.get(name);
      if (others === undefined) void serveAll(name, caller);
      else others.push(caller);
    });
}
