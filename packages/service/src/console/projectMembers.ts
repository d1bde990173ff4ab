import type { ConsoleInvitation, ConsoleMember, MemberRole } from '@engraft/contract/console';
import { sql, type ExpressionBuilder, type Kysely, type Transaction } from 'kysely';
import { audited } from '../audit/audited.js';
import type { Database } from '../db/schema.js';
import { isId } from '../ids.js';
import { greatestOf, isOperator, operatorOfMember, type Member } from './members.js';

/** Everybody with a role in the project, or in every project, by address. Of two roles the greater is listed. */
export async function listProjectMembers(db: Kysely<Database>, projectId: string): Promise<ConsoleMember[]> {
  const rows = await db
    .selectFrom('member_roles')
    .innerJoin('members', 'members.id', 'member_roles.member_id')
    .select(['members.id', 'email', sql<MemberRole[]>`array_agg(role)`.as('roles')])
    .select(sql<boolean>`bool_or(project_id is null)`.as('is_everywhere'))
    .where((eb) => eb.or([eb('project_id', 'is', null), eb('project_id', '=', projectId)]))
    .groupBy(['members.id', 'email'])
    .orderBy('email')
    .execute();
  return rows.map(({ roles, ...row }) => ({ ...row, role: greatestOf(roles) }));
}

/** The links to the project that nobody has used yet, newest first. */
export async function listInvitations(db: Kysely<Database>, projectId: string): Promise<ConsoleInvitation[]> {
  const rows = await db
    .selectFrom('console_links')
    .select([sql<string>`encode(token_sha256, 'hex')`.as('id'), 'role', 'created_at', 'expires_at'])
    .where('project_id', '=', projectId)
    .where('expires_at', '>', sql<Date>`now()`)
    .orderBy('created_at', 'desc')
    .execute();
  return rows.map(({ id, role, created_at, expires_at }) => ({
    id,
    role: role ?? 'viewer',
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
  }));
}

/** Makes a link useless before anybody uses it. `invitation_id` is the hash of its token in hexadecimal digits. */
export async function withdrawInvitation(
  db: Kysely<Database>,
  member: Member,
  { project_id, invitation_id }: { readonly project_id: string; readonly invitation_id: string },
): Promise<{ readonly kind: 'withdrawn' | 'not_found' }> {
  if (!/^[0-9a-f]{64}$/.test(invitation_id)) return { kind: 'not_found' };
  return audited(
    db,
    operatorOfMember(member),
    async (trx): Promise<{ readonly kind: 'withdrawn' | 'not_found' }> => {
      const { numDeletedRows } = await trx
        .deleteFrom('console_links')
        .where('token_sha256', '=', Buffer.from(invitation_id, 'hex'))
        .where('project_id', '=', project_id)
        .executeTakeFirstOrThrow();
      return { kind: numDeletedRows === 1n ? 'withdrawn' : 'not_found' };
    },
    // Part of a hash is enough to tell one from another, and opens nothing.
    ({ kind }) =>
      kind === 'withdrawn'
        ? { action: 'member.uninvite', project_id, target: invitation_id.slice(0, 12), details: {} }
        : null,
  );
}

/** Who is to lose or change a role, and in which project. */
export interface NamedMember {
  readonly project_id: string;
  readonly member_id: string;
}

export type MemberChangeOutcome =
  | { readonly kind: 'changed' }
  | { readonly kind: 'not_found' }
  /** The role is for every project, and whoever asks is no operator. */
  | { readonly kind: 'operators_only' }
  /** Nobody takes the last way in from themselves. */
  | { readonly kind: 'own_role' };

/** Gives the member this role in place of the one they have. */
export async function setMemberRole(
  db: Kysely<Database>,
  member: Member,
  named: NamedMember,
  role: MemberRole,
): Promise<MemberChangeOutcome> {
  return changeMember(db, member, named, { action: 'member.role', details: { role } }, (trx) =>
    trx.updateTable('member_roles').set({ role }).where(rolesOf(named)).execute(),
  );
}

/** Takes all roles in the project from the member. The account stays, and what it did. */
export async function removeMember(
  db: Kysely<Database>,
  member: Member,
  named: NamedMember,
): Promise<MemberChangeOutcome> {
  return changeMember(db, member, named, { action: 'member.remove', details: {} }, (trx) =>
    trx.deleteFrom('member_roles').where(rolesOf(named)).execute(),
  );
}

async function changeMember(
  db: Kysely<Database>,
  member: Member,
  named: NamedMember,
  event: { readonly action: 'member.role' | 'member.remove'; readonly details: Readonly<Record<string, unknown>> },
  change: (trx: Transaction<Database>) => Promise<unknown>,
): Promise<MemberChangeOutcome> {
  const { project_id, member_id } = named;
  if (!isId('mem', member_id)) return { kind: 'not_found' };
  return audited<MemberChangeOutcome>(
    db,
    operatorOfMember(member),
    async (trx) => {
      const roles = await trx
        .selectFrom('member_roles')
        .select('project_id')
        .where(rolesOf(named))
        .modifyEnd(sql`for update`)
        .execute();
      if (roles.length === 0) return { kind: 'not_found' };
      if (roles.some((role) => role.project_id === null)) {
        if (!(await isOperator(trx, member.id))) return { kind: 'operators_only' };
        if (member_id === member.id) return { kind: 'own_role' };
      }
      await change(trx);
      return { kind: 'changed' };
    },
    ({ kind }) => (kind === 'changed' ? { ...event, project_id, target: member_id } : null),
  );
}

function rolesOf({ project_id, member_id }: NamedMember) {
  return (eb: ExpressionBuilder<Database, 'member_roles'>) =>
    eb.and([eb('member_id', '=', member_id), eb.or([eb('project_id', 'is', null), eb('project_id', '=', project_id)])]);
}
