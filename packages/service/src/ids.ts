import { randomBytes } from 'node:crypto';

/** What an identifier names; the prefix makes a stray one in a log readable. */
export type IdPrefix = 'prj' | 'key' | 'sub' | 'job' | 'ver' | 'req' | 'mem';

/** A new opaque identifier with 144 random bits: unguessable, and of the wire's identifier format. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomBytes(18).toString('base64url')}`;
}

/**
 * Whether `newId` could have made it. Identifiers from callers are looked up only if so: anything else names
 * nothing, and some of it (U+0000) PostgreSQL would not even take as text.
 */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.length === prefix.length + 25 && text.startsWith(`${prefix}_`) && /^[\w-]+$/.test(text);
}
