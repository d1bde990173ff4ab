import type { FastifyReply, FastifyRequest } from 'fastify';
import { sessionDays } from '../../console/sessions.js';

/**
 * Only the console's own pages get to send it (`SameSite`, `Path`), and no script reads it (`HttpOnly`). It is no
 * credential under `/v1`, where browsers do not even send it.
 */
const name = 'engraft_console';

/** The secret that the browser sent; `null`: none. Of several none is taken: another site may have planted one. */
export function sessionTokenOf(request: FastifyRequest): string | null {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const given = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return given.length === 1 ? (given[0] ?? null) : null;
}

export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, token: string): void {
  void reply.header('set-cookie', cookie(request, token, sessionDays * 86_400));
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  void reply.header('set-cookie', cookie(request, '', 0));
}

function cookie(request: FastifyRequest, value: string, maxAgeSeconds: number): string {
  // Behind a proxy only the browser knows whether the page came over TLS, and says so in `Origin`.
  const secure = request.headers.origin?.startsWith('https://') === true ? '; Secure' : '';
  return `${name}=${value}; Path=/console; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}
