import { sql, type Kysely } from 'kysely';
import { audited } from '../audit/audited.js';
import type { Database } from '../db/schema.js';
import { operatorOfMember, type Member } from './members.js';
import { isPassword } from './password.js';
import { newSecretToken, secretTokenHash } from './secretToken.js';

export const sessionDays = 7;

/** The member with this address and password; `null`, as slowly, when there is none. */
export async function findMemberByPassword(
  db: Kysely<Database>,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<Member | null> {
  const row = await db
    .selectFrom('members')
    .select(['id', 'email', 'password_hash'])
    .where('email', '=', email)
    .executeTakeFirst();
  const isTheirs = await isPassword(password, row?.password_hash ?? null);
  return row !== undefined && isTheirs ? { id: row.id, email: row.email } : null;
}

/** Always a new session: one that the browser brings along is never taken over. Returns its secret. */
export async function startSession(db: Kysely<Database>, member: Member): Promise<string> {
  const token = newSecretToken();
  const tokenSha256 = secretTokenHash(token);
  if (tokenSha256 === null) throw new Error('a new token is malformed');
  await audited(
    db,
    operatorOfMember(member),
    async (trx) => {
      await trx
        .deleteFrom('console_sessions')
        .where('expires_at', '<', sql<Date>`now()`)
        .execute();
      await trx
        .insertInto('console_sessions')
        .values({
          token_sha256: tokenSha256,
          member_id: member.id,
          expires_at: sql<Date>`now() + make_interval(days => ${sessionDays})`,
        })
        .execute();
    },
    () => ({ action: 'session.start', project_id: null, target: member.id, details: {} }),
  );
  return token;
}

/** Whose session this is; `null`: nobody's, or it has ended. */
export async function findSession(db: Kysely<Database>, token: string): Promise<Member | null> {
  const tokenSha256 = secretTokenHash(token);
  if (tokenSha256 === null) return null;
  const row = await db
    .selectFrom('console_sessions')
    .innerJoin('members', 'members.id', 'console_sessions.member_id')
    .select(['members.id', 'members.email'])
    .where('token_sha256', '=', tokenSha256)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
  return row ?? null;
}

/** Ends this session, or with `everywhere` all that the member has. */
export async function endSession(
  db: Kysely<Database>,
  member: Member,
  { token, everywhere }: { readonly token: string; readonly everywhere: boolean },
): Promise<void> {
  const tokenSha256 = secretTokenHash(token);
  if (tokenSha256 === null) throw new Error('a session has a malformed token');
  await audited(
    db,
    operatorOfMember(member),
    (trx) =>
      trx
        .deleteFrom('console_sessions')
        .where('member_id', '=', member.id)
        .$if(!everywhere, (query) => query.where('token_sha256', '=', tokenSha256))
        .execute(),
    () => ({
      action: everywhere ? 'session.endall' : 'session.end',
      project_id: null,
      target: member.id,
      details: {},
    }),
  );
}
