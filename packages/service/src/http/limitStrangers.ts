import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../rateLimit/networkOf.js';
import type { RequestAllowance } from '../rateLimit/requestAllowance.js';
import { createRequestLimit, type RequestLimit } from '../rateLimit/requestLimit.js';
import { rateRefusal } from './rateHeaders.js';

/**
 * Limits for requests without a valid key. Each kind is counted by itself, so that guessing keys does not hinder
 * reading metrics.
 */
const limits = {
  /** Each costs a query. */
  unknown_key: { burstRequests: 1_000, requestsPerSecond: 20 },
  /** No key, or a text that cannot be one. A 401 costs no more than a 429, and tests send many. */
  no_key: { burstRequests: 5_000, requestsPerSecond: 200 },
  operations: { burstRequests: 1_000, requestsPerSecond: 20 },
  probes: { burstRequests: 1_000, requestsPerSecond: 20 },
} as const;

export type StrangerRequest = keyof typeof limits;

/** Requests without a valid key, counted by their address. */
export interface StrangerLimits {
  take(what: StrangerRequest, request: FastifyRequest): RequestAllowance;
  /** The key turned out to be valid. */
  giveBack(what: StrangerRequest, request: FastifyRequest): void;
  /** For requests that must not be refused. Resolves at once, or a moment later for those who ask too often. */
  slow(what: StrangerRequest, request: FastifyRequest): Promise<void>;
}

/** Networks that are remembered, for each kind of request. */
const maxCallers = 10_000;
/**
 * A refusal takes nearly as long as an answer, so a client that asks again at once, on a hundred connections, would
 * keep the service busy with refusals. So refusals come late.
 */
const delayMs = 250;

/** `nowMs` is a monotonic clock. */
export function createStrangerLimits(nowMs: () => number): StrangerLimits {
  const limitOf = (what: StrangerRequest): RequestLimit => createRequestLimit({ ...limits[what], maxCallers, nowMs });
  const buckets: Readonly<Record<StrangerRequest, RequestLimit>> = {
    unknown_key: limitOf('unknown_key'),
    no_key: limitOf('no_key'),
    operations: limitOf('operations'),
    probes: limitOf('probes'),
  };
  const take = (what: StrangerRequest, request: FastifyRequest) => buckets[what].take(callerOf(request));
  return {
    take,
    slow: async (what, request) => {
      if (take(what, request).kind === 'refused') await sleep(delayMs);
    },
    giveBack: (what, request) => buckets[what].giveBack(callerOf(request)),
  };
}

/** A hook for routes that take no key. */
export function limitOperations(strangers: StrangerLimits) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const allowance = strangers.take('operations', request);
    if (allowance.kind === 'refused') await refuseStranger(reply, allowance);
  };
}

/** Answers 429 `rate_limited`, a moment later. */
export async function refuseStranger(reply: FastifyReply, allowance: RequestAllowance): Promise<never> {
  const refusal = rateRefusal(reply, allowance, 'without a valid key from this address');
  await sleep(delayMs);
  throw refusal;
}

/** Strangers are told apart by the connection's own address, since anybody can write a header that names another. */
function callerOf(request: FastifyRequest): string {
  return networkOf(request.socket.remoteAddress);
}
