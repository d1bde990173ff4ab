import { ApiError, readRequest } from '@engraft/contract';
import {
  auditQuery,
  roleRequest,
  type ConsoleAuditLog,
  type ConsoleMemberList,
  type MadeInvitation,
} from '@engraft/contract/console';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { listAuditEvents, type ListedAuditEvent } from '../../audit/listAuditEvents.js';
import { makeLink } from '../../console/links.js';
import { operatorOfMember } from '../../console/members.js';
import {
  listInvitations,
  listProjectMembers,
  removeMember,
  setMemberRole,
  withdrawInvitation,
  type MemberChangeOutcome,
} from '../../console/projectMembers.js';
import type { Database } from '../../db/schema.js';
import { readJsonBody, refuseQueryParameters } from '../readBody.js';
import { readQuery } from '../readQuery.js';
import { memberOf, projectOf } from './guardRequests.js';

const look = { config: { console: 'look' } } as const;
const manage = { config: { console: 'manage_members' } } as const;
const auditPageSize = 50;

/** Who is in a project, invitations, and the audit log. */
export function memberRoutes(api: FastifyInstance, { db }: { readonly db: Kysely<Database> }): void {
  api.get('/projects/:project/members', look, async (request): Promise<ConsoleMemberList> => {
    refuseQueryParameters(request);
    const project = projectOf(request);
    return { members: await listProjectMembers(db, project), invitations: await listInvitations(db, project) };
  });

  api.post<{ Params: { member: string } }>(
    '/projects/:project/members/:member/role',
    manage,
    async (request, reply) => {
      const { role } = readJsonBody(request, (body) => readRequest(roleRequest, body));
      refuseChange(await setMemberRole(db, memberOf(request), namedMember(request, request.params.member), role));
      return reply.code(204).send();
    },
  );

  api.delete<{ Params: { member: string } }>('/projects/:project/members/:member', manage, async (request, reply) => {
    refuseChange(await removeMember(db, memberOf(request), namedMember(request, request.params.member)));
    return reply.code(204).send();
  });

  invitationRoutes(api, db);
  auditRoutes(api, db);
}

function invitationRoutes(api: FastifyInstance, db: Kysely<Database>): void {
  api.post('/projects/:project/invitations', manage, async (request): Promise<MadeInvitation> => {
    const { role } = readJsonBody(request, (body) => readRequest(roleRequest, body));
    // It names nobody: a link that names an account resets the account's password, which is no owner's to do.
    const link = { email: null, role, project_id: projectOf(request) };
    const { token, expires_at } = await makeLink(db, operatorOfMember(memberOf(request)), link);
    return { token, expires_at: expires_at.toISOString() };
  });

  api.delete<{ Params: { invitation: string } }>(
    '/projects/:project/invitations/:invitation',
    manage,
    async (request, reply) => {
      const named = { project_id: projectOf(request), invitation_id: request.params.invitation };
      const { kind } = await withdrawInvitation(db, memberOf(request), named);
      if (kind === 'not_found') throw new ApiError('not_found', { message: 'The invitation was used, or is too old.' });
      return reply.code(204).send();
    },
  );
}

function auditRoutes(api: FastifyInstance, db: Kysely<Database>): void {
  api.get('/projects/:project/audit', look, (request) => readAuditLog(db, request, projectOf(request)));
  api.get('/audit', { config: { console: 'operate' } }, (request) => readAuditLog(db, request, null));
}

/** A page of the events of a project, or of the whole service. */
async function readAuditLog(
  db: Kysely<Database>,
  request: FastifyRequest,
  projectId: string | null,
): Promise<ConsoleAuditLog> {
  const { cursor } = readQuery(request, (parameters) => readRequest(auditQuery, parameters));
  const rows = await listAuditEvents(db, {
    limit: auditPageSize + 1,
    ...(projectId === null ? {} : { project_id: projectId }),
    ...(cursor === undefined ? {} : { before: Number(cursor) }),
  });
  const events = rows.slice(0, auditPageSize).map(describeEvent);
  const last = rows.length > auditPageSize ? events.at(-1) : undefined;
  return { events, next_cursor: last === undefined ? null : String(last.id) };
}

/** Without the account of the operating system, which is no member's business. */
function describeEvent({ id, occurred_at, action, actor, reason, project, target, details }: ListedAuditEvent) {
  return { id, occurred_at: occurred_at.toISOString(), action, actor, reason, project, target, details };
}

function namedMember(request: FastifyRequest, memberId: string) {
  return { project_id: projectOf(request), member_id: memberId };
}

function refuseChange({ kind }: MemberChangeOutcome): void {
  switch (kind) {
    case 'changed':
      return;
    case 'not_found':
      throw new ApiError('not_found', { message: 'The project has no such member.' });
    case 'operators_only':
      throw new ApiError('insufficient_scope', {
        message: 'This member has a role in every project, which only an owner of every project may change.',
      });
    case 'own_role':
      throw new ApiError('insufficient_scope', { message: 'Somebody else has to change your own role.' });
  }
}
