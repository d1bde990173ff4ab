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
  const step_ms = 1_000 / requests_per_second;
  const window_ms = burst_requests * step_ms;
  /** Ordered by when they were accepted. */
  const full_at_ms = new Map<string, number>();

  return {
    take(caller) {
      const now = now_ms();
      const full_after_ms = Math.max(0, (full_at_ms.get(caller) ?? now) - now);
      if (full_after_ms + step_ms > window_ms)
        return describeAllowance('refused', burst_requests, window_ms, full_after_ms);
      full_at_ms.delete(caller);
      full_at_ms.set(caller, now + full_after_ms + step_ms);
      const [oldest] = full_at_ms.keys();
      if (oldest !== undefined && full_at_ms.size > callers_max) full_at_ms.delete(oldest);
      return describeAllowance('taken', burst_requests, window_ms, full_after_ms + step_ms);
    },
    giveBack(caller) {
      const full_at = full_at_ms.get(caller);
      if (full_at !== undefined) full_at_ms.set(caller, full_at - step_ms);
    },
  };
}
