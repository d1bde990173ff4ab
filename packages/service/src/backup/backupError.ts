/** A backup cannot be made or restored, for a reason that an operator can act on. The message is one sentence. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
