import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import { archiveEndedJobs } from '../archive/archiveEndedJobs.js';
import { isClockSteady } from '../clock/observeClock.js';
import type { ArchiveConfig } from '../config/archiveConfig.js';
import type { Database } from '../db/schema.js';
import { dropCopies } from './dropCopies.js';
import { correctDeadlines } from './correctDeadlines.js';
import { deleteUnneededFiles } from './deleteUnneededFiles.js';
import { forgetEndedJobs, forgetRehearsals } from './forgetEnded.js';
import { recheckDamaged } from './recheckDamaged.js';
import { removeEndedWork } from './removeEndedWork.js';
import { renewHosting } from './renewHosting.js';

const roundMs = 5 * 60_000;
/** Far longer than it takes to copy or remove an adapter. */
const remnantAgeMs = 24 * 3_600_000;

export interface RetentionOptions {
  readonly db: Kysely<Database>;
  readonly store: AdapterStore;
  readonly dataFolder: string;
  readonly logger: Logger;
  /** How long after their end jobs are forgotten. `null` for never. */
  readonly jobRetentionDays: number | null;
  readonly archive: ArchiveConfig;
}

export interface Retention {
  /** Resolves when the current version, file or batch is done. The next start goes on from there. */
  stop(): Promise<void>;
}

/**
 * Renews the hosting of versions, deletes files that nobody needs any more, forgets what need not be kept, and archives
 * closed months, now and every five minutes. Nobody waits for the first round: a version that is asked for before its
 * turn is handled then, see `settleDeadline`.
 */
export function startRetention(options: RetentionOptions): Retention {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await round(options, signal);
      await sleep(roundMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const looping = loop();
  return {
    stop: () => {
      stopping.abort();
      return looping;
    },
  };
}

/** A duty that fails is repeated in the next round, and does not stop the others. */
async function round(options: RetentionOptions, stopping: AbortSignal): Promise<void> {
  const { db, store, dataFolder, logger, jobRetentionDays, archive } = options;
  /** Logs how much was done, under this name. */
  const duty = async (name: string, work: () => Promise<number>): Promise<void> => {
    if (stopping.aborted) return;
    try {
      const done = await work();
      if (done > 0) logger.info({ [name]: done }, 'retention');
    } catch (error) {
      logger.warn({ err: error, duty: name }, 'a duty of retention failed; the next round tries it again');
    }
  };
  await duty('corrected_versions', async () => {
    const corrected = await correctDeadlines(db);
    if (corrected > 0) logger.warn('deadlines that a clock had set too late were corrected');
    return corrected;
  });
  await duty('mended_adapters', () => recheckDamaged(db, store, stopping));
  await duty('renewed_versions', () => renewHosting(db, stopping));
  await duty('deleted_adapters', () => deleteUnneededFiles(db, store, stopping));
  await duty('removed_remnants', async () =>
    (await isClockSteady(db)) ? store.removeRemnants(remnantAgeMs, stopping) : 0,
  );
  await duty('dropped_copies', () => dropCopies(db, store, stopping));
  await duty('removed_work_folders', () => removeEndedWork(db, dataFolder, stopping));
  await duty('forgotten_rehearsals', () => forgetRehearsals(db, stopping));
  if (jobRetentionDays === null) return;
  await duty('forgotten_jobs', () => forgetEndedJobs(db, jobRetentionDays, stopping));
  const { afterMonths, folder } = archive;
  if (afterMonths === null) return;
  await duty('archived_jobs', () => archiveEndedJobs(db, { afterMonths, folder }, stopping));
}
