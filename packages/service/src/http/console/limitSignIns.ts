import type { FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../../rateLimit/networkOf.js';
import { createRequestLimit } from '../../rateLimit/requestLimit.js';
import { rateRefusal } from '../rateHeaders.js';

export interface SignInLimits {
  /** Counts an attempt. 429 when there were too many from this address, or for this account from wherever. */
  take(request: FastifyRequest, reply: FastifyReply, account: string): void;
  /** The attempt was the member's own. */
  giveBack(request: FastifyRequest, account: string): void;
}

/** Ten at once, then one a minute for an account: guesses that a password of 12 characters outlasts. */
const ofAccount = { burstRequests: 10, requestsPerSecond: 1 / 60, maxCallers: 10_000 };
const ofAddress = { burstRequests: 100, requestsPerSecond: 1 / 3, maxCallers: 10_000 };

/**
 * In the memory of this process. A link of `engraft console link` opens an account that somebody else's guesses closed.
 */
export function createSignInLimits(nowMs: () => number): SignInLimits {
  const accounts = createRequestLimit({ ...ofAccount, nowMs });
  const addresses = createRequestLimit({ ...ofAddress, nowMs });
  const addressOf = (request: FastifyRequest): string => networkOf(request.socket.remoteAddress);
  return {
    take: (request, reply, account) => {
      for (const allowance of [addresses.take(addressOf(request)), accounts.take(account)])
        if (allowance.kind === 'refused') throw rateRefusal(reply, allowance, 'to sign in');
    },
    giveBack: (request, account) => {
      addresses.giveBack(addressOf(request));
      accounts.giveBack(account);
    },
  };
}
