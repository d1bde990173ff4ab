/**
 * ENOSPC and EDQUOT come from the operating system, `storage_full` from the engine, and 53100 from PostgreSQL
 * (disk_full).
 */
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'storage_full', '53100']);

/** Whether an error, or its cause, says that a disk is full. Nothing is wrong with the job that met it. */
export function isStorageFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && codes.has(error.code)) || isStorageFull(error.cause);
}

/** How long to begin nothing more after a disk was found full: at first, and at most. */
export interface StorageWait {
  readonly firstMs: number;
  readonly longestMs: number;
}

export interface StoragePause {
  /** Whether nothing may begin now. */
  on(): boolean;
  /** The disk was found full. Returns the wait in milliseconds, twice the last one. */
  begin(): number;
  /** Something was written to its end. */
  end(): void;
}

export function createStoragePause({ firstMs, longestMs }: StorageWait): StoragePause {
  let nextMs = firstMs;
  let untilMs = 0;
  return {
    on: () => performance.now() < untilMs,
    begin: () => {
      const waitMs = nextMs;
      untilMs = performance.now() + waitMs;
      nextMs = Math.min(2 * waitMs, longestMs);
      return waitMs;
    },
    end: () => {
      nextMs = firstMs;
      untilMs = 0;
    },
  };
}
