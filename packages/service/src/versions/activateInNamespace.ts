import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { renewOrEnd } from '../retention/renewHosting.js';
import { activateVersion, type ActivateVersionOutcome } from './activateVersion.js';
import { findVersion, type VersionOwner } from './findVersion.js';
import { settleDeadline } from './settleDeadline.js';

export interface ActivationInNamespace extends VersionOwner {
  readonly version_id: string;
  /** `null` for base. The string `base` is no version's id, and so never the active one. */
  readonly expected_version_id: string | null;
}

export type ActivateInNamespaceOutcome = ActivateVersionOutcome | { readonly kind: 'not_found' };

/** Activates a version of a project and tenant; "the subject comes from the candidate's owner". */
export async function activateInNamespace(
  db: Kysely<Database>,
  { version_id, expected_version_id, ...owner }: ActivationInNamespace,
): Promise<ActivateInNamespaceOutcome> {
  return inTransaction<ActivateInNamespaceOutcome>(db, 'version.activated', async (trx) => {
    const version = await findVersion(trx, owner, version_id);
    if (version === null) return { kind: 'not_found' };
    await settleDeadline(trx, version);
    const outcome = await activateVersion(trx, { subject_ref: version.subject_ref, version_id, expected_version_id });
    // Retention left the version alone while it was inactive.
    if (outcome.kind === 'activated') await renewOrEnd(trx, version_id);
    return outcome;
  });
}
