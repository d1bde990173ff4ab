/** One request that was counted, or was refused and not counted. */
export interface RequestAllowance {
  readonly kind: 'taken' | 'refused';
  /** How many are accepted at once after a long pause. */
  readonly limit_requests: number;
  /** How many more requests would be accepted at once. */
  readonly remaining_requests: number;
  /** Time until all of the limit is free again. */
  readonly reset_ms: number;
  /** Time until one more request is taken; 0 when one is free. */
  readonly retry_after_ms: number;
}

/** Describes a bucket that fills evenly within `window_ms` and will be full in `full_after_ms`. */
export function describeAllowance(
  kind: RequestAllowance['kind'],
  limit_requests: number,
  window_ms: number,
  full_after_ms: number,
): RequestAllowance {
  const step_ms = window_ms / limit_requests;
  // The database keeps microseconds, so a step may be rounded by that much.
  const free = Math.floor((window_ms - full_after_ms) / step_ms + 1e-3);
  const remaining_requests = kind === 'refused' ? 0 : Math.min(Math.max(free, 0), limit_requests - 1);
  return {
    kind,
    limit_requests,
    remaining_requests,
    reset_ms: full_after_ms,
    retry_after_ms: remaining_requests > 0 ? 0 : Math.max(0, full_after_ms + step_ms - window_ms),
  };
}
