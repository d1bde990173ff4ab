import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { findVersionOfSubject } from './findVersion.js';

export interface Activation {
  readonly subject_ref: string;
  /** A version of this subject. */
  readonly version_id: string;
  /** The version that the caller believes to be active, or `null` for base. */
  readonly expected_version_id: string | null;
}

export type ActivateVersionOutcome =
  | { readonly kind: 'activated'; readonly revision: number }
  /** Another version is active. Nothing was changed. */
  | { readonly kind: 'activation_conflict' }
  | { readonly kind: 'adapter_expired' }
  /** It belongs to another checkpoint than the one that the workers have loaded. */
  | { readonly kind: 'base_model_changed' };

/**
 * Routes a subject to one of its versions, if its active version is still the expected one. It is a compare-and-set
 * under a lock on the subject, both for activation over HTTP and for learning jobs, which expect their parent. The
 * revision increments "also when target is already active". Throws if the version does not belong to this subject.
 *
 * Order of locks: the subject before the project's accounts, see `ledger/accounts.ts`.
 */
export async function activateVersion(
  trx: Transaction<Database>,
  { subject_ref, version_id, expected_version_id }: Activation,
): Promise<ActivateVersionOutcome> {
  const subject = await trx
    .selectFrom('subjects')
    .select('active_version_id')
    .where('id', '=', subject_ref)
    .modifyEnd(sql`for no key update`)
    .executeTakeFirstOrThrow();
  if (subject.active_version_id !== expected_version_id) return { kind: 'activation_conflict' };
  const version = await findVersionOfSubject(trx, subject_ref, version_id);
  if (version === null) throw new Error(`version ${version_id} is not of subject ${subject_ref}`);
  if (version.expired) return { kind: 'adapter_expired' };
  if (version.of_another_model) return { kind: 'base_model_changed' };
  const { revision } = await trx
    .updateTable('subjects')
    .set((eb) => ({ active_version_id: version_id, revision: eb('revision', '+', 1), updated_at: sql`now()` }))
    .where('id', '=', subject_ref)
    .returning('revision')
    .executeTakeFirstOrThrow();
  return { kind: 'activated', revision };
}
