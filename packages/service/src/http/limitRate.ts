import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inBatches } from '../inBatches.js';
import { type CountedKey, takeRequests } from '../rateLimit/takeRequests.js';
import { keyOf } from './authenticateRequest.js';
import { rateRefusal, sayAllowance } from './rateHeaders.js';

/**
 * 429 "`rate_limited` … with `Retry-After` and the `x-ratelimit-*` headers that OpenAI clients read", which also come
 * with every response to a request that was counted. Requests of one key that come at the same time are counted by one
 * statement: they would wait for each other on the key's row.
 * @param pause see `inBatches`
 */
export function createRateLimit(
  db: Kysely<Database>,
  pause: () => Promise<void>,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const take = inBatches(
    ({ id }: CountedKey) => id,
    (keys) => takeRequests(db, keys[0], keys.length),
    pause,
  );
  return async (request, reply) => {
    const allowance = await take(keyOf(request));
    if (allowance.kind === 'refused') throw rateRefusal(reply, allowance, 'with this key');
    sayAllowance(reply, allowance);
  };
}
