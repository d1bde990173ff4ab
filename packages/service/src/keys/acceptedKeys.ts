export interface AcceptedKeys {
  has(secretSha256: Buffer): boolean;
  add(secretSha256: Buffer): void;
  delete(secretSha256: Buffer): void;
}

/**
 * Keys that were valid when they were last used, the most recent ones. They show who is no stranger, but never replace
 * the query: a revoked key is refused at once.
 */
export function createAcceptedKeys(maxKeys = 10_000): AcceptedKeys {
  /** Ordered by their last use. */
  const accepted = new Set<string>();
  return {
    has: (secretSha256) => accepted.has(secretSha256.toString('base64')),
    add(secretSha256) {
      const name = secretSha256.toString('base64');
      accepted.delete(name);
      accepted.add(name);
      const [oldest] = accepted;
      if (oldest !== undefined && accepted.size > maxKeys) accepted.delete(oldest);
    },
    delete: (secretSha256) => void accepted.delete(secretSha256.toString('base64')),
  };
}
