import { ApiError } from '@engraft/contract';
import { consoleHeader } from '@engraft/contract/console';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { findRole, isOperator, mayDo, type Member } from '../../console/members.js';
import { findSession } from '../../console/sessions.js';
import type { Database } from '../../db/schema.js';
import { isId } from '../../ids.js';
import { refuseStranger, type StrangerLimits } from '../limitStrangers.js';
import { invalid } from '../readBody.js';
import { sessionTokenOf } from './sessionCookie.js';

/**
 * Refuses what another site's page may have sent in a member's name: a form cannot send the header, and a script of
 * another origin would have to ask first, which is never allowed. A write also names the page that it comes from.
 */
export function refuseOtherSites(request: FastifyRequest): void {
  if (request.headers[consoleHeader] !== '1')
    throw invalid(consoleHeader, 'it must be 1, as the pages of the console send it');
  if (request.method === 'GET' || request.method === 'HEAD') return;
  if (!isOwnOrigin(request)) throw invalid('Origin', 'the request does not come from a page of this console');
}

function isOwnOrigin({ headers: { origin, host } }: FastifyRequest): boolean {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  const own = `${page.protocol}//${host}`;
  return /^https?:$/.test(page.protocol) && URL.canParse(own) && new URL(own).origin === page.origin;
}

/** Leaves the session in the request's state, if the route needs one. Without: 401. */
export async function requireSession(
  db: Kysely<Database>,
  strangers: StrangerLimits,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const needed = request.routeOptions.config.console;
  if (needed === undefined) throw new Error(`${request.routeOptions.url ?? 'a route'} does not say who may use it`);
  if (needed === 'anybody') return;
  const token = sessionTokenOf(request);
  if (token === null) {
    await strangers.slow('no_key', request);
    throw new ApiError('unauthorized', { message: 'Sign in first.' });
  }
  const allowance = strangers.take('unknown_key', request);
  const member = await findSession(db, token);
  if (member === null) {
    if (allowance.kind === 'refused') await refuseStranger(reply, allowance);
    throw new ApiError('unauthorized', { message: 'The session has ended; sign in again.' });
  }
  if (allowance.kind === 'taken') strangers.giveBack('unknown_key', request);
  request.state.session = { member, token };
}

/** 404 for whatever is outside the member's projects, 403 for what their role does not allow. */
export async function requireRole(db: Kysely<Database>, request: FastifyRequest): Promise<void> {
  const needed = request.routeOptions.config.console;
  if (needed === undefined || needed === 'anybody' || needed === 'signed_in') return;
  const { id: memberId } = memberOf(request);
  if (needed === 'operate' && !(await isOperator(db, memberId)))
    throw new ApiError('insufficient_scope', { message: 'Only an owner of every project may do this.' });
  if (needed === 'operate' && !isInProject(request)) return;
  const projectId = projectOf(request);
  const role = isId('prj', projectId) ? await findRole(db, memberId, projectId) : null;
  if (role === null) throw new ApiError('not_found', { message: 'You have no project under that name.' });
  if (needed !== 'operate' && !mayDo(role, needed))
    throw new ApiError('insufficient_scope', { message: `Your role in this project, ${role}, does not allow this.` });
}

function isInProject({ params }: FastifyRequest): boolean {
  return typeof params === 'object' && params !== null && 'project' in params;
}

/** The project of the path, in which `requireRole` has found the member's role. */
export function projectOf(request: FastifyRequest): string {
  const { params } = request;
  if (typeof params !== 'object' || params === null || !('project' in params) || typeof params.project !== 'string')
    throw new Error('a route of a project has none in its path');
  return params.project;
}

export function sessionOf(request: FastifyRequest): { readonly member: Member; readonly token: string } {
  if (request.state.session === null) throw new Error('a route was reached without a session');
  return request.state.session;
}

export function memberOf(request: FastifyRequest): Member {
  return sessionOf(request).member;
}
