import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';

/** The least that RFC 7677 allows, and PostgreSQL's own choice: what is hashed is random, so no slow hash is needed. */
const iterations = 4_096;

/**
 * What PostgreSQL keeps of a password (RFC 5803: `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`). Given
 * in place of the password, it keeps that out of statements and logs, and can be compared with what is kept.
 */
export function scramVerifier(password: string, salt: Buffer): string {
  const salted_password = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted_password).update(name).digest();
  const stored_key = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored_key}:${keyOf('Server Key').toString('base64')}`;
}
