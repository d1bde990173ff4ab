export type HubErrorCode =
  /** A variable of the environment cannot be meant; the message names it. */
  | 'settings_invalid'
  /** The hub wants a token, another token, or that its account is let in first. */
  | 'access_denied'
  /** There is no such model, revision or file. */
  | 'not_found'
  /** No connection, or none that lasts, or a hub that only says that something is wrong with itself. */
  | 'unreachable'
  /** The hub said something that no hub says, or two things that contradict each other. */
  | 'answer_invalid'
  /** The downloaded file does not have the hash that the hub promises. */
  | 'content_wrong'
  /** The disk has no room; what was downloaded so far is kept. */
  | 'storage_full'
  /** The cache cannot be read or written. */
  | 'cache_failed';

/** The only error that leaves this package. Its message says what would help, and never holds a token. */
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

/** `error.code` of the operating system or of Node.js, also of what `fetch` wraps; `null` where there is none. */
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

/** The meaning of a failure of the file system to whoever owns the cache. */
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
