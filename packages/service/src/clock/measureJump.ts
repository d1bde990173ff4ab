/**
 * What counts as a jump, or as two clocks that differ. Network time sets a running clock in smaller steps, and no query
 * takes so long.
 */
export const jump_ms_min = 60_000;

/**
 * The database's clock, and this process's monotonic one just before it was asked and just after it had answered. In
 * milliseconds.
 */
export interface ClockReading {
  readonly database_ms: number;
  readonly asked_ms: number;
  readonly answered_ms: number;
}

/**
 * How much farther the database's clock has gone on between two readings than time has, in milliseconds; negative when
 * it has gone back. However long the answers took, what they leave possible is 0. The monotonic clock of some systems
 * stands still while the machine sleeps, which then looks like a jump forward.
 */
export function measureJump(earlier: ClockReading, later: ClockReading): number {
  const passed_ms = later.database_ms - earlier.database_ms;
  const longest_ms = later.answered_ms - earlier.asked_ms;
  const shortest_ms = later.asked_ms - earlier.answered_ms;
  if (passed_ms > longest_ms) return passed_ms - longest_ms;
  return Math.min(0, passed_ms - shortest_ms);
}
