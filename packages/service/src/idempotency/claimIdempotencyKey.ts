import type { TenantId } from '@engraft/contract';
import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { tenantIs } from '../tenants/tenantIs.js';

export interface IdempotencyClaim {
  readonly project_id: string;
  readonly tenant_id: TenantId;
  readonly key: string;
  readonly fingerprint_sha256: Buffer;
  readonly api_key_id: string;
  /** The job that this transaction will write if the key is free. */
  readonly job_id: string;
}

export type ClaimOutcome =
  | { readonly kind: 'claimed' }
  /** The same input was admitted before, with the API key `api_key_id`. */
  | { readonly kind: 'replay'; readonly job_id: string; readonly api_key_id: string }
  /** "Same key with changed input." */
  | { readonly kind: 'conflict' };

/**
 * Claims a key in its namespace ("project plus tenant"), first of all in the transaction that admits the job. Of two
 * simultaneous requests, the second waits at the insert. If the first commits, the second finds its job; if the first
 * rolls back, the second claims the key itself. So two identical requests admit one job.
 */
export async function claimIdempotencyKey(trx: Transaction<Database>, claim: IdempotencyClaim): Promise<ClaimOutcome> {
  for (;;) {
    const outcome = await tryToClaim(trx, claim);
    // The job that held the key was forgotten between the two statements.
    if (outcome !== null) return outcome;
  }
}

/** Whether a request came with this key before. It may have been forgotten, or come, by the time of the claim. */
export async function isIdempotencyKeyClaimed(
  db: Kysely<Database>,
  claim: Pick<IdempotencyClaim, 'project_id' | 'tenant_id' | 'key'>,
): Promise<boolean> {
  const earlier = await findClaim(db, claim).select('job_id').executeTakeFirst();
  return earlier !== undefined;
}

async function tryToClaim(trx: Transaction<Database>, claim: IdempotencyClaim): Promise<ClaimOutcome | null> {
  const inserted = await trx
    .insertInto('idempotency_keys')
    .values(claim)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (inserted.numInsertedOrUpdatedRows === 1n) return { kind: 'claimed' };
  const earlier = await findClaim(trx, claim).select(['fingerprint_sha256', 'job_id', 'api_key_id']).executeTakeFirst();
  if (earlier === undefined) return null;
  if (!earlier.fingerprint_sha256.equals(claim.fingerprint_sha256)) return { kind: 'conflict' };
  return { kind: 'replay', job_id: earlier.job_id, api_key_id: earlier.api_key_id };
}

function findClaim(db: Kysely<Database>, claim: Pick<IdempotencyClaim, 'project_id' | 'tenant_id' | 'key'>) {
  return db
    .selectFrom('idempotency_keys')
    .where('project_id', '=', claim.project_id)
    .where(tenantIs('tenant_id', claim.tenant_id))
    .where('key', '=', claim.key);
}
