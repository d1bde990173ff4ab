/** No room on the disk, or none for this user. */
const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Whether an error, or what caused it, is the operating system's word that there is no room for what was to be written.
 */
export function isStorageFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && CODES.has(error.code)) || isStorageFull(error.cause);
}
