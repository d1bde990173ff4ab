import path from 'node:path';
import { z } from 'zod';

/** Whether workers move the jobs of closed months into files, and where the files are. */
export interface ArchiveConfig {
  /** A month is archived when this many months have passed since its end. `null` for never. */
  readonly afterMonths: number | null;
  /** Absolute. */
  readonly folder: string;
}

/** The console's charts of spending go back 90 days, and read the transfers themselves. */
const minMonths = 3;
const longestMonthDays = 31;

export const archiveVariables = {
  ENGRAFT_ARCHIVE_AFTER_MONTHS: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, `must be a whole number of months from ${minMonths} to 999`)
    .transform(Number)
    .refine((months) => months >= minMonths, `must be at least ${minMonths}: the console shows spending of 90 days`)
    .optional(),
  ENGRAFT_ARCHIVE_DIR: z.string().optional(),
};

type ArchiveVariables = z.output<z.ZodObject<typeof archiveVariables>> & {
  readonly ENGRAFT_JOB_RETENTION_DAYS?: number | undefined;
};

/** Names what does not go with archiving, as "VARIABLE fault". `null` if nothing is wrong. */
export function faultOfArchive(values: ArchiveVariables): string | null {
  const { ENGRAFT_ARCHIVE_AFTER_MONTHS: months, ENGRAFT_JOB_RETENTION_DAYS: days } = values;
  if (months === undefined) return null;
  if (days === undefined) {
    return 'ENGRAFT_JOB_RETENTION_DAYS is needed with ENGRAFT_ARCHIVE_AFTER_MONTHS: jobs that can be read stay';
  }
  const mostDays = months * longestMonthDays;
  if (days <= mostDays) return null;
  return (
    `ENGRAFT_ARCHIVE_AFTER_MONTHS must not be shorter than ENGRAFT_JOB_RETENTION_DAYS, in which jobs can be read: ` +
    `${months} months are at most ${mostDays} days`
  );
}

export function archiveConfigOf(values: ArchiveVariables, dataFolder: string): ArchiveConfig {
  return {
    afterMonths: values.ENGRAFT_ARCHIVE_AFTER_MONTHS ?? null,
    folder: path.resolve(values.ENGRAFT_ARCHIVE_DIR ?? path.join(dataFolder, 'archive')),
  };
}
