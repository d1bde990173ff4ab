import { z } from 'zod';

export { type CrashPoint, crashPoints } from '../crashPoints.js';

export const crashOrder = z.object({
  /** See `crashPoints`. */
  crash_point: z.string(),
  /** The number of the passing. 1 is the next one. */
  passing: z.int().positive(),
  /** The default is SIGKILL. With SIGSTOP the process lives, and goes on when it is told to. */
  signal: z.enum(['SIGKILL', 'SIGSTOP']).optional(),
});

/** Where a process is to die, or to stop so that something else can go wrong. */
export type CrashOrder = z.infer<typeof crashOrder>;
