import { createHash, randomBytes } from 'node:crypto';

const prefix = 'engraft_';
const secretPattern = /^engraft_[A-Za-z0-9_-]{43}$/;

/** A new secret with 256 random bits. It is shown once and never stored. */
export function newKeySecret(): string {
  return prefix + randomBytes(32).toString('base64url');
}

/**
 * The hash that the database keeps of a secret, or `null` if the text cannot be one. A fast hash is enough, because
 * nobody can guess 256 random bits, and the lookup by hash tells a timing attacker nothing useful.
 */
export function keySecretHash(secret: string): Buffer | null {
  return secretPattern.test(secret) ? createHash('sha256').update(secret).digest() : null;
}
