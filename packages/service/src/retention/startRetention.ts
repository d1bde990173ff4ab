import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import { isClockSteady } from '../clock/observeClock.js';
import type { Database } from '../db/schema.js';
import { correctDeadlines } from './correctDeadlines.js';
import { deleteUnneededFiles } from './deleteUnneededFiles.js';
import { removeEndedWork } from './removeEndedWork.js';
import { renewHosting } from './renewHosting.js';

const round_ms = 5 * 60_000;
/** Far longer than it takes to copy an adapter or to remove one. */
const remnant_age_ms = 24 * 3_600_000;

export interface RetentionOptions {
  readonly db: Kysely<Database>;
  readonly store: AdapterStore;
  readonly data_folder: string;
  readonly logger: Logger;
}

export interface Retention {
  stop(): Promise<void>;
}

/**
 * Renews the hosting of versions and deletes files that nobody needs any more, now and every five minutes. Resolves
 * after the first round, so that no request meets a version whose deadline passed only because nobody was there.
 */
export async function startRetention({ db, store, data_folder, logger }: RetentionOptions): Promise<Retention> {
  const stopping = new AbortController();
  const { signal } = stopping;
  /** What fails has its turn again in the next round, and keeps nothing else from its own. */
  const attempt = async (duty: () => Promise<unknown>): Promise<void> => {
    try {
      await duty();
    } catch (error) {
      logger.warn({ err: error }, 'the retention of versions is looked after later');
    }
  };
  const round = async (): Promise<void> => {
    await attempt(async () => {
      const corrected_versions = await correctDeadlines(db);
      if (corrected_versions > 0) logger.warn({ corrected_versions }, 'a clock that was ahead is made good');
    });
    await attempt(async () => {
      const renewed_versions = await renewHosting(db, signal);
      if (renewed_versions > 0) logger.info({ renewed_versions }, 'retention');
    });
    await attempt(async () => {
      const deleted_adapters = await deleteUnneededFiles(db, store);
      if (deleted_adapters > 0) logger.info({ deleted_adapters }, 'retention');
    });
    await attempt(async () => {
      if (await isClockSteady(db)) await store.removeRemnants(remnant_age_ms);
    });
    await attempt(() => removeEndedWork(db, data_folder));
  };
  const loop = async (): Promise<void> => {
    for (;;) {
      await sleep(round_ms, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await round();
    }
  };
  await round();
  const looping = loop();
  return {
    stop: () => {
      stopping.abort();
      return looping;
    },
  };
}
