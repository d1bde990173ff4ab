import { sql, type Kysely, type Transaction } from 'kysely';
import { audited } from '../audit/audited.js';
import { advisoryLocks } from '../db/advisoryLocks.js';
import type { Database } from '../db/schema.js';
import { RolledBack, inTransaction } from '../db/transaction.js';
import { newId } from '../ids.js';
import { dropOwnerLinks, takeLink, type NewLink } from './links.js';
import { hasMembers, operatorOfMember, type Member } from './members.js';
import { hashPassword } from './password.js';

export interface SetUp {
  readonly token: string;
  /** In lower case. */
  readonly email: string;
  readonly password: string;
}

export type SetUpOutcome =
  | { readonly kind: 'set_up'; readonly member: Member }
  | { readonly kind: 'link_unknown' }
  /** The link is somebody else's; it can still be used. */
  | { readonly kind: 'other_email' }
  /** The address has an account, and a link that names none must not become a way into it. */
  | { readonly kind: 'email_taken' };

/**
 * Makes the account of a link, or sets a new password where the link names an account; in which case all its sessions
 * end. A refusal leaves the link as it was.
 */
export async function setUpMember(db: Kysely<Database>, setUp: SetUp): Promise<SetUpOutcome> {
  // Takes long, and so stays out of the transaction.
  const passwordHash = await hashPassword(setUp.password);
  return inTransaction<SetUpOutcome>(db, 'audit.recorded', async (trx) => {
    // One at a time, so that one is the first.
    await sql`select pg_advisory_xact_lock(${advisoryLocks.setUp})`.execute(trx);
    const isFirst = !(await hasMembers(trx));
    const link = await takeLink(trx, setUp.token);
    if (link === null) return { kind: 'link_unknown' };
    if (link.email !== null && link.email !== setUp.email) return refused('other_email');
    // Each start before has printed such a link, which others may have seen.
    if (isFirst) await dropOwnerLinks(trx);
    const member = await saveMember(trx, link, { email: setUp.email, password_hash: passwordHash });
    if (member === null) return refused('email_taken');
    await audited(
      trx,
      operatorOfMember(member),
      () => saveRole(trx, link, member),
      () => ({
        action: 'member.setup',
        project_id: link.project_id,
        target: member.id,
        details: { email: member.email, role: link.role },
      }),
    );
    return { kind: 'set_up', member };
  });
}

function refused(kind: 'other_email' | 'email_taken'): RolledBack<SetUpOutcome> {
  return new RolledBack<SetUpOutcome>({ kind });
}

/** `null`: the address has an account already, and the link does not name it. */
async function saveMember(
  trx: Transaction<Database>,
  link: NewLink,
  { email, password_hash }: { readonly email: string; readonly password_hash: string },
): Promise<Member | null> {
  const made = await trx
    .insertInto('members')
    .values({ id: newId('mem'), email, password_hash })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning(['id', 'email'])
    .executeTakeFirst();
  if (made !== undefined) return made;
  if (link.email === null) return null;
  const member = await trx
    .updateTable('members')
    .set({ password_hash })
    .where('email', '=', email)
    .returning(['id', 'email'])
    .executeTakeFirstOrThrow();
  await trx.deleteFrom('console_sessions').where('member_id', '=', member.id).execute();
  return member;
}

export type JoinOutcome =
  Exclude<SetUpOutcome, { readonly kind: 'set_up' | 'email_taken' }> | { readonly kind: 'joined' };

/** Gives a member who is signed in the role of a link, in place of a new account. */
export async function joinByLink(db: Kysely<Database>, member: Member, token: string): Promise<JoinOutcome> {
  return inTransaction<JoinOutcome>(db, 'audit.recorded', async (trx) => {
    const link = await takeLink(trx, token);
    if (link === null) return { kind: 'link_unknown' };
    if (link.email !== null && link.email !== member.email) return new RolledBack<JoinOutcome>({ kind: 'other_email' });
    await audited(
      trx,
      operatorOfMember(member),
      () => saveRole(trx, link, member),
      () => ({
        action: 'member.join',
        project_id: link.project_id,
        target: member.id,
        details: { email: member.email, role: link.role },
      }),
    );
    return { kind: 'joined' };
  });
}

async function saveRole(trx: Transaction<Database>, { role, project_id }: NewLink, member: Member): Promise<void> {
  if (role === null) return;
  await trx
    .insertInto('member_roles')
    .values({ member_id: member.id, project_id, role })
    .onConflict((conflict) => conflict.columns(['member_id', 'project_id']).doUpdateSet({ role }))
    .execute();
}
