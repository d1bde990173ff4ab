import { describeAllowance, type RequestAllowance } from './requestAllowance.js';

export interface RequestLimitOptions {
  /** How many are accepted at once after a long pause. */
  readonly burst_requests: number;
  readonly requests_per_second: number;
  /** How many callers are remembered. The one accepted longest ago goes first. */
  readonly callers_max: number;
  /** A monotonic clock. */
  readonly now_ms: () => number;
}

export interface RequestLimit {
  take(caller: string): RequestAllowance;
  /** The accepted request did not deserve to be counted. */
  giveBack(caller: string): void;
}

/**
 * A bucket for each caller, in the memory of this process: the generic cell rate algorithm, as in `takeRequest`. A
 * caller that was forgotten for lack of room begins with a full bucket; no limit stops somebody with so many addresses.
 */
export function createRequestLimit(options: RequestLimitOptions): RequestLimit {
  const { burst_requests, requests_per_second, callers_max, now_ms } = options;
  const stepMs = 1_000 / requests_per_second;
  const windowMs = burst_requests * stepMs;
  /** Ordered by when they were accepted. */
  const fullAtMs = new Map<string, number>();

  return {
    take(caller) {
      const now = now_ms();
      const fullAfterMs = Math.max(0, (fullAtMs.get(caller) ?? now) - now);
      if (fullAfterMs + stepMs > windowMs) return describeAllowance('refused', burst_requests, windowMs, fullAfterMs);
      fullAtMs.delete(caller);
      fullAtMs.set(caller, now + fullAfterMs + stepMs);
      const [oldest] = fullAtMs.keys();
      if (oldest !== undefined && fullAtMs.size > callers_max) fullAtMs.delete(oldest);
      return describeAllowance('taken', burst_requests, windowMs, fullAfterMs + stepMs);
    },
    giveBack(caller) {
      const fullAt = fullAtMs.get(caller);
      if (fullAt !== undefined) fullAtMs.set(caller, fullAt - stepMs);
    },
  };
}
