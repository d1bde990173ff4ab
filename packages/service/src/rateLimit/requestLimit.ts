import { describeAllowance, type RequestAllowance } from './requestAllowance.js';

export interface RequestLimitOptions {
  /** How many are accepted at once after a long pause. */
  readonly burstRequests: number;
  readonly requestsPerSecond: number;
  /** How many callers are remembered. The one accepted longest ago goes first. */
  readonly maxCallers: number;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

export interface RequestLimit {
  take(caller: string): RequestAllowance;
  /** The accepted request did not deserve to be counted. */
  giveBack(caller: string): void;
}

/**
 * A bucket for each caller, in the memory of this process: the generic cell rate algorithm, as in `takeRequests`. A
 * caller that was forgotten for lack of room begins with a full bucket; no limit stops somebody with so many addresses.
 */
export function createRequestLimit(options: RequestLimitOptions): RequestLimit {
  const { burstRequests, requestsPerSecond, maxCallers, nowMs } = options;
  const stepMs = 1_000 / requestsPerSecond;
  const windowMs = burstRequests * stepMs;
  /** Ordered by when they were accepted. */
  const fullAtMs = new Map<string, number>();

  return {
    take(caller) {
      const now = nowMs();
      const fullAfterMs = Math.max(0, (fullAtMs.get(caller) ?? now) - now);
      if (fullAfterMs + stepMs > windowMs) return describeAllowance('refused', burstRequests, windowMs, fullAfterMs);
      fullAtMs.delete(caller);
      fullAtMs.set(caller, now + fullAfterMs + stepMs);
      const [oldest] = fullAtMs.keys();
      if (oldest !== undefined && fullAtMs.size > maxCallers) fullAtMs.delete(oldest);
      return describeAllowance('taken', burstRequests, windowMs, fullAfterMs + stepMs);
    },
    giveBack(caller) {
      const fullAt = fullAtMs.get(caller);
      if (fullAt !== undefined) fullAtMs.set(caller, fullAt - stepMs);
    },
  };
}
