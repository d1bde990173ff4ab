import { ApiError } from '@engraft/contract';
import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { authenticate, type AuthenticatedKey } from '../keys/authenticate.js';

/** "Keys are server-side only. A request carrying an `Origin` header is rejected with code `server_keys_only`." */
export function refuseBrowsers(request: FastifyRequest): void {
  if (request.headers.origin !== undefined) throw new ApiError('server_keys_only');
}

/**
 * "Every `/v1` request carries `Authorization: Bearer <API_KEY>`." Leaves the key in the request's state. One that carries several is nobody's: of
 * two Node.js takes the first, and a proxy may take the last.
 */
export async function authenticateRequest(db: Kysely<Database>, request: FastifyRequest): Promise<void> {
  const { headers, raw } = request;
  const given = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'authorization');
  const secret = given.length === 1 ? /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] : undefined;
  const key = secret === undefined ? null : await authenticate(db, secret);
  if (key === null) throw new ApiError('unauthorized');
  request.state.key = key;
}

/** "Missing scope: 403 `insufficient_scope`." */
export function checkScope(request: FastifyRequest): void {
  const needed = request.routeOptions.config.anyScopeOf;
  if (needed === undefined)
    throw new Error(`${request.routeOptions.url ?? 'a route'} does not say which scope it needs`);
  const { scopes } = keyOf(request);
  if (needed.length > 0 && !needed.some((scope) => scopes.includes(scope))) throw new ApiError('insufficient_scope');
}

export function keyOf(request: FastifyRequest): AuthenticatedKey {
  if (request.state.key === null) throw new Error('a route was reached without a key');
  return request.state.key;
}
