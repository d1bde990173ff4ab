import type { LinkDetails, MemberRole } from '@engraft/contract/console';
import { sql, type Kysely, type Transaction } from 'kysely';
import { audited } from '../audit/audited.js';
import type { Operator } from '../audit/operator.js';
import type { Database } from '../db/schema.js';
import { newSecretToken, secretTokenHash } from './secretToken.js';

export interface NewLink {
  /** In lower case; `null`: whoever opens the link chooses one. */
  readonly email: string | null;
  /** `null`: the link resets a password and changes no role. */
  readonly role: MemberRole | null;
  /** `null`: every project. */
  readonly project_id: string | null;
}

export interface MadeLink {
  /** Goes behind the `#` of the address, which no server and no log of one ever sees. */
  readonly token: string;
  readonly expires_at: Date;
}

const lifeHours = 24;

/** A link that works once, within a day. Old ones are forgotten. */
export async function makeLink(db: Kysely<Database>, operator: Operator, link: NewLink): Promise<MadeLink> {
  const token = newSecretToken();
  const tokenSha256 = secretTokenHash(token);
  if (tokenSha256 === null) throw new Error('a new token is malformed');
  const { expires_at } = await audited(
    db,
    operator,
    async (trx) => {
      await trx
        .deleteFrom('console_links')
        .where('expires_at', '<', sql<Date>`now()`)
        .execute();
      const expiresAt = sql<Date>`now() + make_interval(hours => ${lifeHours})`;
      return trx
        .insertInto('console_links')
        .values({ ...link, token_sha256: tokenSha256, expires_at: expiresAt })
        .returning('expires_at')
        .executeTakeFirstOrThrow();
    },
    () => ({
      action: 'console.link',
      project_id: link.project_id,
      target: link.email ?? link.role ?? 'account',
      details: { role: link.role },
    }),
  );
  return { token, expires_at };
}

/** The role that a link brings: unless told, a new account owns everything, and one that exists keeps what it has. */
export async function roleOfLink(
  db: Kysely<Database>,
  { email, role }: { readonly email: string | null; readonly role: MemberRole | null },
): Promise<MemberRole | null> {
  if (role !== null || email === null) return role ?? 'owner';
  const member = await db.selectFrom('members').select('id').where('email', '=', email).executeTakeFirst();
  return member === undefined ? 'owner' : null;
}

/** The address that a person opens. */
export function linkUrl(serviceUrl: string, token: string): string {
  return `${serviceUrl.replace(/\/+$/, '')}/console/setup#${token}`;
}

/** The effect that the link would have; `null`: it was used, is too old, or never was one. */
export async function readLink(db: Kysely<Database>, token: string): Promise<LinkDetails | null> {
  const tokenSha256 = secretTokenHash(token);
  if (tokenSha256 === null) return null;
  const link = await db
    .selectFrom('console_links')
    .leftJoin('projects', 'projects.id', 'console_links.project_id')
    .select(['email', 'role', 'expires_at', 'projects.name as project'])
    .select((eb) =>
      eb
        .exists(eb.selectFrom('members').select('id').whereRef('members.email', '=', 'console_links.email'))
        .as('resets_password'),
    )
    .where('token_sha256', '=', tokenSha256)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
  if (link === undefined) return null;
  const { resets_password, expires_at } = link;
  return { ...link, resets_password: Boolean(resets_password), expires_at: expires_at.toISOString() };
}

/** Uses the link up; of several who do so at once one gets it. `null`: it is used, or too old. */
export async function takeLink(trx: Transaction<Database>, token: string): Promise<NewLink | null> {
  const tokenSha256 = secretTokenHash(token);
  if (tokenSha256 === null) return null;
  const link = await trx
    .deleteFrom('console_links')
    .where('token_sha256', '=', tokenSha256)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning(['email', 'role', 'project_id'])
    .executeTakeFirst();
  return link ?? null;
}

/** Links that make whoever opens them an owner of everything. */
export async function dropOwnerLinks(trx: Transaction<Database>): Promise<void> {
  await trx
    .deleteFrom('console_links')
    .where('email', 'is', null)
    .where('role', '=', 'owner')
    .where('project_id', 'is', null)
    .execute();
}
