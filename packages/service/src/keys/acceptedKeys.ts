export interface AcceptedKeys {
  has(secret_sha256: Buffer): boolean;
  add(secret_sha256: Buffer): void;
  delete(secret_sha256: Buffer): void;
}

/**
 * Keys that were valid when they were last used, the latest of them. They say who is no stranger, and never spare the
 * look into the database: a key that is revoked is refused at once.
 */
export function createAcceptedKeys(keys_max = 10_000): AcceptedKeys {
  /** Keys stand in the order of their last use. */
  const accepted = new Set<string>();
  return {
    has: (secret_sha256) => accepted.has(secret_sha256.toString('base64')),
    add(secret_sha256) {
      const name = secret_sha256.toString('base64');
      accepted.delete(name);
      accepted.add(name);
      const [oldest] = accepted;
      if (oldest !== undefined && accepted.size > keys_max) accepted.delete(oldest);
    },
    delete: (secret_sha256) => void accepted.delete(secret_sha256.toString('base64')),
  };
}
