/** One request that was counted, or was refused and not counted. */
export interface RequestAllowance {
  readonly kind: 'taken' | 'refused';
  /** How many are accepted at once after a long pause. */
  readonly limitRequests: number;
  /** How many more requests would be accepted at once. */
  readonly remainingRequests: number;
  /** Time until all of the limit is free again. */
  readonly resetMs: number;
  /** Time until one more request is taken; 0 when one is free. */
  readonly retryAfterMs: number;
}

/** Describes a bucket that fills evenly within `windowMs` and will be full in `fullAfterMs`. */
export function describeAllowance(
  kind: RequestAllowance['kind'],
  limitRequests: number,
  windowMs: number,
  fullAfterMs: number,
): RequestAllowance {
  const stepMs = windowMs / limitRequests;
  // The database keeps microseconds, so a step may be rounded by that much.
  const free = Math.floor((windowMs - fullAfterMs) / stepMs + 1e-3);
  const remainingRequests = kind === 'refused' ? 0 : Math.min(Math.max(free, 0), limitRequests - 1);
  return {
    kind,
    limitRequests,
    remainingRequests,
    resetMs: fullAfterMs,
    retryAfterMs: remainingRequests > 0 ? 0 : Math.max(0, fullAfterMs + stepMs - windowMs),
  };
}
