import type { Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { correctDeadlines } from '../retention/correctDeadlines.js';
import { renewOrEnd } from '../retention/renewHosting.js';
import { findVersionOfSubject, type FoundVersion } from './findVersion.js';

/**
 * Settles a deadline that passed while no worker was there, or slept. So nobody is refused a version that the next
 * round of retention would renew, or revive because a wrong clock had ended it. Waits for other transactions on it.
 * Returns the version as it is then.
 */
export async function settleDeadline(trx: Transaction<Database>, version: FoundVersion): Promise<FoundVersion> {
  if (!version.undecided) return version;
  await correctDeadlines(trx, version.id);
  await renewOrEnd(trx, version.id, { wait: true });
  return (await findVersionOfSubject(trx, version.subject_ref, version.id)) ?? version;
}
