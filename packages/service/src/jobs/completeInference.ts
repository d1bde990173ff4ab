import { computeChargeMicrousd, type InferenceResult, type JobErrorCode, type TokenUsage } from '@engraft/contract';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { priceCardOf } from '../pricing/priceCardOf.js';
import { endJob } from './endJob.js';
import { lockLeasedJob, type JobLease, type LeasedWrite } from './jobLease.js';

export type InferenceCompletion = {
  readonly usage: TokenUsage;
  /** The part of `usage.output_tokens` spent on thinking; 0 if left out. */
  readonly reasoning_tokens?: number;
} & (
  | { readonly kind: 'succeeded'; readonly result: InferenceResult }
  /** "If generation occurred but extraction of the answer failed, known usage can still be charged." */
  | { readonly kind: 'unusable'; readonly error_code: JobErrorCode }
);

/** running → succeeded, or failed with its tokens charged. */
export async function completeInference(
  db: Kysely<Database>,
  lease: JobLease,
  completion: InferenceCompletion,
): Promise<LeasedWrite> {
  return inTransaction<LeasedWrite>(db, 'inference.settled', async (trx) => {
    const job = await lockLeasedJob(trx, lease);
    if (job === null) return 'lost';
    const { usage, reasoning_tokens = 0 } = completion;
    const charge = {
      usage,
      reasoning_tokens,
      compute_microusd: computeChargeMicrousd(usage, priceCardOf(job.pricing_version)),
      storage_microusd: 0,
    };
    if (completion.kind === 'succeeded') {
      await endJob(trx, job, { ...charge, status: 'succeeded', result: completion.result, error_code: null });
    } else {
      await endJob(trx, job, { ...charge, status: 'failed', result: null, error_code: completion.error_code });
    }
    return 'done';
  });
}
