/**
 * The smallest difference that counts as a jump, or between two clocks. Network time adjusts a running clock in smaller
 * steps, and no query takes this long.
 */
export const minJumpMs = 60_000;

/**
 * The database's clock, with this process's monotonic clock just before the question and just after the answer. In
 * milliseconds.
 */
export interface ClockReading {
  readonly databaseMs: number;
  readonly askedMs: number;
  readonly answeredMs: number;
}

/**
 * How much farther the database's clock has moved between two readings than time has, in milliseconds. Negative if it
 * has gone back. A difference that the duration of the answers could explain counts as 0. On some systems the monotonic
 * clock stands still while the machine sleeps, which then looks like a jump forward.
 */
export function measureJump(earlier: ClockReading, later: ClockReading): number {
  const passedMs = later.databaseMs - earlier.databaseMs;
  const longestMs = later.answeredMs - earlier.askedMs;
  const shortestMs = later.askedMs - earlier.answeredMs;
  if (passedMs > longestMs) return passedMs - longestMs;
  return Math.min(0, passedMs - shortestMs);
}
