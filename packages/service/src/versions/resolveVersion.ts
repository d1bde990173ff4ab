import { baseVersion } from '@engraft/contract';
import type { Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import type { SubjectRoute } from '../subjects/findOrCreateSubject.js';
import { findVersionOfSubject } from './findVersion.js';
import { settleDeadline } from './settleDeadline.js';

export type ResolveVersionOutcome =
  /** A version id, or `base`. */
  | { readonly kind: 'resolved'; readonly adapter_version: string }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'adapter_expired' }
  /** It belongs to another checkpoint than the one that the workers have loaded. */
  | { readonly kind: 'base_model_changed' };

/**
 * The version that a job runs on, fixed at its admission: the requested one ("retained version of this subject, or
 * `base`; omitted means the active version"). "There is no automatic fallback." For learning, a parent of another
 * checkpoint is enough: the worker starts from base then, and rehearses what the parent was taught.
 */
export async function resolveVersion(
  trx: Transaction<Database>,
  subject: SubjectRoute,
  requested: string | undefined,
  { learns }: { readonly learns: boolean },
): Promise<ResolveVersionOutcome> {
  const adapterVersion = requested ?? subject.active_version_id ?? baseVersion;
  if (adapterVersion === baseVersion) return { kind: 'resolved', adapter_version: adapterVersion };
  const version = await findVersionOfSubject(trx, subject.id, adapterVersion);
  if (version === null) return { kind: 'not_found' };
  if ((await settleDeadline(trx, version)).expired) return { kind: 'adapter_expired' };
  if (version.of_another_model && !learns) return { kind: 'base_model_changed' };
  return { kind: 'resolved', adapter_version: adapterVersion };
}
