import { z } from 'zod';

export { type CrashPoint, crashPoints } from '../crashPoints.js';

export const crashOrder = z.object({
  /** See `crashPoints`. */
  crash_point: z.string(),
  /** At which passing: 1 is the next one. */
  passing: z.int().positive(),
});

/** Where a process is to die. */
export type CrashOrder = z.infer<typeof crashOrder>;
