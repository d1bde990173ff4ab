import { ApiError, readRequest } from '@engraft/contract';
import {
  linkRequest,
  setUpRequest,
  signInRequest,
  type ConsoleSession,
  type LinkDetails,
} from '@engraft/contract/console';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { readLink } from '../../console/links.js';
import { isOperator, listProjectsOf, type Member } from '../../console/members.js';
import { endSession, findMemberByPassword, startSession } from '../../console/sessions.js';
import { joinByLink, setUpMember } from '../../console/setUpMember.js';
import type { Database } from '../../db/schema.js';
import type { Payments } from '../../payments/payments.js';
import { invalid, readJsonBody, refuseQueryParameters } from '../readBody.js';
import { refuseStranger, type StrangerLimits } from '../limitStrangers.js';
import { sessionOf } from './guardRequests.js';
import type { SignInLimits } from './limitSignIns.js';
import { clearSessionCookie, setSessionCookie } from './sessionCookie.js';

export interface AccountContext {
  readonly db: Kysely<Database>;
  readonly model_id: string;
  readonly payments: Payments | null;
  readonly signIns: SignInLimits;
  readonly strangers: StrangerLimits;
}

const anybody = { config: { console: 'anybody' } } as const;
const signedIn = { config: { console: 'signed_in' } } as const;

/** Signing in and out, and the links that set up accounts. */
export function accountRoutes(api: FastifyInstance, context: AccountContext): void {
  const { db, signIns } = context;
  api.get('/session', signedIn, async (request): Promise<ConsoleSession> => {
    refuseQueryParameters(request);
    return describeSession(context, sessionOf(request).member);
  });

  api.post('/session', anybody, async (request, reply): Promise<ConsoleSession> => {
    const given = readJsonBody(request, (body) => readRequest(signInRequest, body));
    signIns.take(request, reply, given.email);
    const member = await findMemberByPassword(db, given);
    if (member === null) throw new ApiError('unauthorized', { message: 'No account has this address and password.' });
    signIns.giveBack(request, given.email);
    return beginSession(context, request, reply, member);
  });

  for (const [path, everywhere] of [
    ['/session', false],
    ['/sessions', true],
  ] as const)
    api.delete(path, signedIn, async (request, reply) => {
      const { member, token } = sessionOf(request);
      await endSession(db, member, { token, everywhere });
      clearSessionCookie(request, reply);
      return reply.code(204).send();
    });

  linkRoutes(api, context);
}

function linkRoutes(api: FastifyInstance, context: AccountContext): void {
  const { db, signIns, strangers } = context;
  api.post('/links/read', anybody, async (request, reply): Promise<LinkDetails> => {
    const { token } = readJsonBody(request, (body) => readRequest(linkRequest, body));
    // A guess costs a look into the database, as one at a key does.
    const allowance = strangers.take('unknown_key', request);
    if (allowance.kind === 'refused') return refuseStranger(reply, allowance);
    const link = await readLink(db, token);
    if (link === null) return refuseLink();
    strangers.giveBack('unknown_key', request);
    return link;
  });

  api.post('/links/join', signedIn, async (request): Promise<ConsoleSession> => {
    const { token } = readJsonBody(request, (body) => readRequest(linkRequest, body));
    const { member } = sessionOf(request);
    const outcome = await joinByLink(db, member, token);
    if (outcome.kind === 'link_unknown') return refuseLink();
    if (outcome.kind === 'other_email') throw invalid('token', 'the link is for another address');
    return describeSession(context, member);
  });

  api.post('/links/redeem', anybody, async (request, reply): Promise<ConsoleSession> => {
    const given = readJsonBody(request, (body) => readRequest(setUpRequest, body));
    // A guess costs the service a hash, whatever it guesses at.
    signIns.take(request, reply, `link ${given.email}`);
    const outcome = await setUpMember(db, given);
    if (outcome.kind === 'link_unknown') return refuseLink();
    if (outcome.kind === 'other_email') throw invalid('email', 'the link is for another address');
    if (outcome.kind === 'email_taken')
      throw invalid('email', 'this address has an account; sign in, or ask an operator for a link that names it');
    signIns.giveBack(request, `link ${given.email}`);
    return beginSession(context, request, reply, outcome.member);
  });
}

async function beginSession(
  context: AccountContext,
  request: FastifyRequest,
  reply: FastifyReply,
  member: Member,
): Promise<ConsoleSession> {
  setSessionCookie(request, reply, await startSession(context.db, member));
  return describeSession(context, member);
}

async function describeSession(
  { db, model_id, payments }: AccountContext,
  { id, email }: Member,
): Promise<ConsoleSession> {
  const [operates, projects] = [await isOperator(db, id), await listProjectsOf(db, id)];
  return { email, is_operator: operates, model_id, sells_credit: payments !== null, projects };
}

function refuseLink(): never {
  throw new ApiError('not_found', {
    message: 'This link was used or is too old; `engraft console link` makes another.',
  });
}
