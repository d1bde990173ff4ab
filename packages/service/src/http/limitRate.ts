import { ApiError } from '@engraft/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { takeRequest } from '../rateLimit/takeRequest.js';
import { keyOf } from './authenticateRequest.js';

/**
 * 429 "`rate_limited` … with `Retry-After` and the `x-ratelimit-*` headers that OpenAI clients read", which also come
 * with every response to a request that was counted.
 */
export async function limitRate(db: Kysely<Database>, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const allowance = await takeRequest(db, keyOf(request));
  void reply.headers({
    'x-ratelimit-limit-requests': allowance.limit_requests,
    'x-ratelimit-remaining-requests': allowance.remaining_requests,
    'x-ratelimit-reset-requests': formatDuration(allowance.reset_ms),
  });
  if (allowance.kind === 'taken') return;
  // Whole seconds, rounded up: who waits that long is taken.
  void reply.header('retry-after', Math.max(1, Math.ceil(allowance.retry_after_ms / 1000)));
  throw new ApiError('rate_limited');
}

/** As OpenAI writes them: `120ms`, `1.5s`. */
function formatDuration(duration_ms: number): string {
  const whole_ms = Math.ceil(duration_ms);
  return whole_ms < 1000 ? `${whole_ms}ms` : `${whole_ms / 1000}s`;
}
