import type { TrainedOn } from '@engraft/engine';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import { AdapterStoreUnavailable } from '../adapterStore/adapterStoreUnavailable.js';
import type { Database } from '../db/schema.js';
import { adaptersOfUnknownModel, countVersionsByModel, recordBaseModel } from '../versions/baseModel.js';
import { learnModelOfAdapter } from './modelOfAdapter.js';

export interface Adoption {
  readonly db: Kysely<Database>;
  readonly store: AdapterStore;
  /** Identifies the checkpoint that this process has loaded. */
  readonly content_hash: string;
  readonly logger: Logger;
}

/**
 * Records the checkpoint that jobs run on from now on, and what versions of earlier releases were trained on. Call it
 * before any job is admitted or claimed: until then, versions of another checkpoint look usable.
 */
export async function adoptBaseModel({ db, store, content_hash, logger }: Adoption): Promise<void> {
  const before = await recordBaseModel(db, content_hash);
  if (before !== null) logger.warn({ before, now: content_hash }, 'the base model has changed');
  for (const adapterHash of await adaptersOfUnknownModel(db)) {
    const kind = await learnModel(db, store, adapterHash);
    if (kind === 'unavailable') {
      // Each of the others would wait as long before the service listens.
      logger.warn('the store of adapters cannot be reached: on which model some of them were trained is not known yet');
      break;
    }
    if (kind !== 'known')
      logger.warn({ adapter_hash: adapterHash, kind }, 'it is not known on which model an adapter was trained');
  }
  const { of_another_model } = await countVersionsByModel(db, content_hash);
  if (of_another_model === 0) return;
  logger.warn(
    { versions: of_another_model },
    'versions were trained on another base model: they are refused with base_model_changed, and hosting them costs ' +
      'nothing; set ENGRAFT_MODEL_DIR to that model again, or learn their passages again',
  );
}

/** Reads which model an adapter was trained on. If it cannot be fetched now, whoever needs it asks again. */
async function learnModel(
  db: Kysely<Database>,
  store: AdapterStore,
  adapterHash: string,
): Promise<TrainedOn['kind'] | 'refused' | 'unavailable'> {
  try {
    const { adapter, giveBack } = await store.borrow(adapterHash);
    return (await learnModelOfAdapter(db, adapter).finally(giveBack)).kind;
  } catch (error) {
    if (error instanceof AdapterStoreUnavailable) return error.isRefused ? 'refused' : 'unavailable';
    throw error;
  }
}
