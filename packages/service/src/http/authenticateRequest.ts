import { ApiError } from '@engraft/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inBatches } from '../inBatches.js';
import { createAcceptedKeys } from '../keys/acceptedKeys.js';
import { authenticate, type AuthenticatedKey } from '../keys/authenticate.js';
import { createKeyProbe } from '../keys/keyProbe.js';
import { keySecretHash } from '../keys/keySecret.js';
import { refuseStranger, type StrangerLimits } from './limitStrangers.js';

/** "Keys are server-side only. A request carrying an `Origin` header is rejected with code `server_keys_only`." */
export async function refuseBrowsers(strangers: StrangerLimits, request: FastifyRequest): Promise<void> {
  if (request.headers.origin === undefined) return;
  await strangers.slow('no_key', request);
  throw new ApiError('server_keys_only');
}

/** Puts the key into the request's state. */
export type Authentication = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * "Every `/v1` request carries `Authorization: Bearer <API_KEY>`." Without a valid key the answer is 401, or 429 if its
 * address has sent too many such requests. Requests of others from its address do not keep out a valid key: a key that
 * was accepted before bypasses the limit, and beyond the limit the database is asked about all unknown keys together.
 * @param pause see `inBatches`
 */
export function createAuthentication(
  db: Kysely<Database>,
  strangers: StrangerLimits,
  pause: () => Promise<void>,
): Authentication {
  const accepted = createAcceptedKeys();
  const isUsable = createKeyProbe(db);
  // A query answers requests that came before it began, and no others: a key may have been revoked meanwhile.
  const findKey = inBatches(
    (secret: string) => secret,
    async (secrets) => {
      const key = await authenticate(db, secrets[0]);
      return secrets.map(() => key);
    },
    pause,
  );
  return async (request, reply) => {
    const secret = bearerSecretOf(request);
    const secretSha256 = secret === undefined ? null : keySecretHash(secret);
    if (secret === undefined || secretSha256 === null) {
      const allowance = strangers.take('no_key', request);
      if (allowance.kind === 'refused') await refuseStranger(reply, allowance);
      throw new ApiError('unauthorized');
    }
    const allowance = accepted.has(secretSha256) ? null : strangers.take('unknown_key', request);
    if (allowance?.kind === 'refused' && !(await isUsable(secretSha256))) await refuseStranger(reply, allowance);
    const key = await findKey(secret);
    if (key === null) {
      accepted.delete(secretSha256);
      throw new ApiError('unauthorized');
    }
    if (allowance?.kind === 'taken') strangers.giveBack('unknown_key', request);
    request.state.key = key;
    accepted.add(secretSha256);
  };
}

/** A request with several keys has none: Node.js takes the first of two, and a proxy may take the last. */
function bearerSecretOf({ headers, raw }: FastifyRequest): string | undefined {
  const given = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'authorization');
  return given.length === 1 ? /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] : undefined;
}

/** "Missing scope: 403 `insufficient_scope`." */
export function checkScope(request: FastifyRequest): void {
  const needed = request.routeOptions.config.anyScopeOf;
  if (needed === undefined)
    throw new Error(`${request.routeOptions.url ?? 'a route'} does not say which scope it needs`);
  const { scopes } = keyOf(request);
  if (needed.length > 0 && !needed.some((scope) => scopes.includes(scope)))
    throw new ApiError('insufficient_scope', { message: `The API key lacks the scope ${needed.join(' or ')}.` });
}

export function keyOf(request: FastifyRequest): AuthenticatedKey {
  if (request.state.key === null) throw new Error('a route was reached without a key');
  return request.state.key;
}
