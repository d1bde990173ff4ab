import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { takeRequest } from '../rateLimit/takeRequest.js';
import { keyOf } from './authenticateRequest.js';
import { rateRefusal, sayAllowance } from './rateHeaders.js';

/**
 * 429 "`rate_limited` … with `Retry-After` and the `x-ratelimit-*` headers that OpenAI clients read", which also come
 * with every response to a request that was counted.
 */
export async function limitRate(db: Kysely<Database>, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const allowance = await takeRequest(db, keyOf(request));
  if (allowance.kind === 'refused') throw rateRefusal(reply, allowance, 'with this key');
  sayAllowance(reply, allowance);
}
