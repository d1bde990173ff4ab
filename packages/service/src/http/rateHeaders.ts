import { ApiError } from '@engraft/contract';
import type { FastifyReply } from 'fastify';
import type { RequestAllowance } from '../rateLimit/requestAllowance.js';

/** Sets the headers of a refusal; returns its error. */
export function rateRefusal(reply: FastifyReply, allowance: RequestAllowance, tooMany: string): ApiError {
  sayAllowance(reply, allowance);
  // Whole seconds, rounded up, so that a client that waits this long is accepted.
  void reply.header('retry-after', Math.max(1, Math.ceil(allowance.retryAfterMs / 1000)));
  return new ApiError('rate_limited', { message: `Too many requests ${tooMany}; wait as Retry-After says.` });
}

/** Sets the `x-ratelimit-*` headers that OpenAI's clients read. */
export function sayAllowance(reply: FastifyReply, allowance: RequestAllowance): void {
  void reply.headers({
    'x-ratelimit-limit-requests': allowance.limitRequests,
    'x-ratelimit-remaining-requests': allowance.remainingRequests,
    'x-ratelimit-reset-requests': formatDuration(allowance.resetMs),
  });
}

/** As OpenAI writes durations: `120ms`, `1.5s`. */
function formatDuration(durationMs: number): string {
  const wholeMs = Math.ceil(durationMs);
  return wholeMs < 1000 ? `${wholeMs}ms` : `${wholeMs / 1000}s`;
}
