import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';

/** The least that RFC 7677 allows, and PostgreSQL's own choice. The password is random, so it needs no slow hash. */
const iterations = 4_096;

/**
 * Computes the value that PostgreSQL stores for a password (RFC 5803:
 * `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`). Used in place of the password, it keeps the password
 * out of statements and logs, and can be compared with what is stored.
 */
export function scramVerifier(password: string, salt: Buffer): string {
  const saltedPassword = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', saltedPassword).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`;
}
