import type { ConsoleProject, MemberRole } from '@engraft/contract/console';
import { memberRoles } from '@engraft/contract/console';
import { sql, type Kysely } from 'kysely';
import type { Operator } from '../audit/operator.js';
import type { Database } from '../db/schema.js';

/** Somebody who is signed in. */
export interface Member {
  readonly id: string;
  readonly email: string;
}

/** A member as the audit log names them. */
export function operatorOfMember({ id, email }: Member): Operator {
  return { actor: email, account: `console ${id}`, reason: null };
}

/** Each thing that members do in a project, and the least role that may. The one place where roles are told apart. */
const leastRole = {
  look: 'viewer',
  learn: 'developer',
  ask: 'developer',
  activate: 'developer',
  manage_keys: 'developer',
  buy_credit: 'owner',
  set_project: 'owner',
  manage_members: 'owner',
} as const satisfies Readonly<Record<string, MemberRole>>;

export type MemberAction = keyof typeof leastRole;

export function mayDo(role: MemberRole, action: MemberAction): boolean {
  return memberRoles.indexOf(role) >= memberRoles.indexOf(leastRole[action]);
}

/** The projects that a member has a role in, with the greatest that they have there, by name. */
export async function listProjectsOf(db: Kysely<Database>, memberId: string): Promise<ConsoleProject[]> {
  const rows = await db
    .selectFrom('projects')
    .innerJoin('member_roles', (join) =>
      join.on((on) =>
        on.or([on('member_roles.project_id', 'is', null), on('member_roles.project_id', '=', on.ref('projects.id'))]),
      ),
    )
    .select(['projects.id', 'projects.name', sql<MemberRole[]>`array_agg(role)`.as('roles')])
    .where('member_id', '=', memberId)
    .groupBy(['projects.id', 'projects.name'])
    .orderBy('projects.name')
    .execute();
  return rows.map(({ id, name, roles }) => ({ id, name, role: greatestOf(roles) }));
}

/** The member's role in a project; `null`: there is none, or no such project. */
export async function findRole(db: Kysely<Database>, memberId: string, projectId: string): Promise<MemberRole | null> {
  const rows = await db
    .selectFrom('member_roles')
    .select('role')
    .where('member_id', '=', memberId)
    .where((eb) => eb.or([eb('project_id', 'is', null), eb('project_id', '=', projectId)]))
    .where((eb) => eb.exists(eb.selectFrom('projects').select('id').where('id', '=', projectId)))
    .execute();
  return rows.length === 0 ? null : greatestOf(rows.map(({ role }) => role));
}

/** Whether the member owns every project, and so may do what belongs to the service as a whole. */
export async function isOperator(db: Kysely<Database>, memberId: string): Promise<boolean> {
  const row = await db
    .selectFrom('member_roles')
    .select('role')
    .where('member_id', '=', memberId)
    .where('project_id', 'is', null)
    .where('role', '=', 'owner')
    .executeTakeFirst();
  return row !== undefined;
}

/** The role that allows the most. */
export function greatestOf(roles: readonly MemberRole[]): MemberRole {
  return [...memberRoles].reverse().find((role) => roles.includes(role)) ?? 'viewer';
}

export async function hasMembers(db: Kysely<Database>): Promise<boolean> {
  return (await db.selectFrom('members').select('id').limit(1).executeTakeFirst()) !== undefined;
}
