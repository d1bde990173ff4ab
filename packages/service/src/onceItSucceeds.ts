/** Returns the same promise to all callers. After a failure the next caller tries again. */
export function onceItSucceeds<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}
