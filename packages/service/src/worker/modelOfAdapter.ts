import { readTrainedOn, type AdapterReference, type TrainedOn } from '@engraft/engine';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { recordModelOfAdapter } from '../versions/baseModel.js';

/** Reads what an adapter was trained on, and records it for its versions, which were made before that was recorded. */
export async function learnModelOfAdapter(db: Kysely<Database>, adapter: AdapterReference): Promise<TrainedOn> {
  const trainedOn = await readTrainedOn(adapter);
  if (trainedOn.kind === 'known') await recordModelOfAdapter(db, adapter.contentHash, trainedOn.contentHash);
  return trainedOn;
}
