export type HubErrorCode =
  /** An environment variable has an impossible value. The message names it. */
  | 'settings_invalid'
  /** The hub wants a token, another token, or to let its account in first. */
  | 'access_denied'
  /** There is no such model, revision or file. */
  | 'not_found'
  /** There is no connection, or none that lasts, or the hub only reports a fault of its own. */
  | 'unreachable'
  /** The hub said something that no hub says, or contradicted itself. */
  | 'answer_invalid'
  /** The downloaded content does not have the hash that the hub itself promises. */
  | 'content_wrong'
  /** The disk is full. The bytes downloaded so far are kept. */
  | 'storage_full'
  /** The cache cannot be read or written. */
  | 'cache_failed';

/** The only error that leaves this package. Its message says what would help, and never contains a token. */
export class HubError extends Error {
  override readonly name = 'HubError';

  constructor(
    readonly code: HubErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** `error.code` of the operating system or of Node.js, even if `fetch` wraps it. `null` if there is none. */
export function systemCode(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    // Connecting to a name with several addresses fails once for each.
    if (at instanceof AggregateError && at.errors.length > 0) return systemCode(at.errors[0]);
  }
  return null;
}

export function isMissing(error: unknown): boolean {
  return systemCode(error) === 'ENOENT';
}

/** Turns a failure of the file system into an error for the owner of the cache. */
export function cacheError(error: unknown, cacheFolder: string): unknown {
  if (error instanceof HubError) return error;
  const code = systemCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const message =
      `there is no room left in ${cacheFolder}; make some, and the same command goes on, ` +
      'or name another folder in HF_HUB_CACHE';
    return new HubError('storage_full', message, { cause: error });
  }
  if (code === null || !/^E[A-Z]+$/.test(code)) return error;
  const message = `${cacheFolder} cannot be used (${code}): HF_HUB_CACHE names another folder`;
  return new HubError('cache_failed', message, { cause: error });
}
