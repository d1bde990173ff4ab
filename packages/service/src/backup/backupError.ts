/** A backup that cannot be made or restored, for a reason that an operator can do something about; one sentence. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
