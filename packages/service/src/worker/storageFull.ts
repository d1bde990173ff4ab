/** ENOSPC and EDQUOT are the operating system's, `storage_full` is the engine's, 53100 PostgreSQL's (disk_full). */
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'storage_full', '53100']);

/**
 * Whether an error, or what caused it, says that there is no room on a disk: nothing is wrong with the job that met it.
 */
export function isStorageFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && codes.has(error.code)) || isStorageFull(error.cause);
}

/** How long nothing more is begun after a disk was found full: at first, and at most. */
export interface StorageWait {
  readonly first_ms: number;
  readonly longest_ms: number;
}

export interface StoragePause {
  /** Whether nothing is to be begun now. */
  on(): boolean;
  /** The disk was found full: returns the wait in milliseconds, twice the last one. */
  begin(): number;
  /** Something was written to its end. */
  end(): void;
}

export function createStoragePause({ first_ms, longest_ms }: StorageWait): StoragePause {
  let next_ms = first_ms;
  let until_ms = 0;
  return {
    on: () => performance.now() < until_ms,
    begin: () => {
      const wait_ms = next_ms;
      until_ms = performance.now() + wait_ms;
      next_ms = Math.min(2 * wait_ms, longest_ms);
      return wait_ms;
    },
    end: () => {
      next_ms = first_ms;
      until_ms = 0;
    },
  };
}
