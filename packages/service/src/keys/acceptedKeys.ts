export interface AcceptedKeys {
  has(secret_sha256: Buffer): boolean;
  add(secret_sha256: Buffer): void;
  delete(secret_sha256: Buffer): void;
}

/**
 * Keys that were valid when they were last used, the most recent ones. They show who is no stranger, but never replace
 * the query: a revoked key is refused at once.
 */
export function createAcceptedKeys(keys_max = 10_000): AcceptedKeys {
  /** Ordered by their last use. */
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
