import { randomBytes } from 'node:crypto';

/** The kind of thing that an identifier names. The prefix helps to recognise a stray one in a log. */
export type IdPrefix = 'prj' | 'key' | 'sub' | 'job' | 'ver' | 'req' | 'mem';

/** A new opaque identifier with 144 random bits: unguessable, and of the wire's identifier format. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomBytes(18).toString('base64url')}`;
}

/**
 * Whether `newId` could have made it. Only such identifiers are looked up. Any other names nothing, and PostgreSQL
 * would not even accept some of them (U+0000) as text.
 */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.length === prefix.length + 25 && text.startsWith(`${prefix}_`) && /^[\w-]+$/.test(text);
}

/** Replaces the name of something erased. No caller can send a name like it. */
export function erasedName(id = randomBytes(9).toString('base64url')): string {
  return `(erased) ${id}`;
}
