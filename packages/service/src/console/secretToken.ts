import { createHash, randomBytes } from 'node:crypto';

/** A new secret with 256 random bits, for a link or a session. It is handed out once and never stored. */
export function newSecretToken(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * The hash that the database keeps, or `null` if the text cannot be a token. Nobody can guess one, so a fast hash will
 * do.
 */
export function secretTokenHash(token: string): Buffer | null {
  return /^[\w-]{43}$/.test(token) ? createHash('sha256').update(token).digest() : null;
}
