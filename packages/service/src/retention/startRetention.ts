import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import type { Database } from '../db/schema.js';
import { deleteExpiredFiles } from './deleteExpiredFiles.js';
import { renewHosting } from './renewHosting.js';

const round_ms = 5 * 60_000;

/** Renews the hosting of versions and deletes the files of expired ones, now and every five minutes. */
export function startRetention(db: Kysely<Database>, store: AdapterStore, logger: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const round = async (): Promise<void> => {
    try {
      const renewed_versions = await renewHosting(db);
      const deleted_versions = await deleteExpiredFiles(db, store);
      if (renewed_versions + deleted_versions > 0) logger.info({ renewed_versions, deleted_versions }, 'retention');
    } catch (error) {
      logger.warn({ err: error }, 'the retention of versions is looked after later');
    }
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await round();
      await sleep(round_ms, undefined, { signal: stopping.signal }).catch(() => undefined);
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
