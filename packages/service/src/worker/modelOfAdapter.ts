import { readTrainedOn, type AdapterReference, type TrainedOn } from '@engraft/engine';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { recordModelOfAdapter } from '../versions/baseModel.js';

/** Reads what an adapter was trained on, and records it for its versions, which were made before that was recorded. */
export async function learnModelOfAdapter(db: Kysely<Database>, adapter: AdapterReference): Promise<TrainedOn> {
  const trained_on = await readTrainedOn(adapter);
  if (trained_on.kind === 'known') await recordModelOfAdapter(db, adapter.contentHash, trained_on.contentHash);
  return trained_on;
}
