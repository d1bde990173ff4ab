import type { Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { correctDeadlines } from '../retention/correctDeadlines.js';
import { renewOrEnd } from '../retention/renewHosting.js';
import { findVersionOfSubject, type FoundVersion } from './findVersion.js';

/**
 * The version after its deadline was looked after. One that passed while no worker was there, or slept, is made good
 * now: nobody is refused what the next round of retention would renew, or take back because a wrong clock had ended it.
 * Waits for whoever is at it.
 */
export async function lookAfter(trx: Transaction<Database>, version: FoundVersion): Promise<FoundVersion> {
  if (!version.undecided) return version;
  await correctDeadlines(trx, version.id);
  await renewOrEnd(trx, version.id, { wait: true });
  return (await findVersionOfSubject(trx, version.subject_ref, version.id)) ?? version;
}
