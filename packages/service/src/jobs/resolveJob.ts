import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { endJob, waived } from './endJob.js';

export type ResolveJobOutcome =
  | {
      readonly kind: 'resolved';
      readonly project_id: string;
      readonly reserved_microusd: number;
      readonly charged_microusd: number;
    }
  | { readonly kind: 'not_found' }
  /** Only work whose outcome is unknown is settled by hand. */
  | { readonly kind: 'wrong_status'; readonly status: string }
  | { readonly kind: 'above_reservation'; readonly reserved_microusd: number };

/**
 * reconciliation_required → failed, with what an operator found to be owed (0 to release everything). The job keeps its
 * error code. The audit log says who settled it and why.
 */
export async function resolveJob(
  db: Kysely<Database>,
  jobId: string,
  chargedMicrousd: number,
): Promise<ResolveJobOutcome> {
  return inTransaction<ResolveJobOutcome>(db, 'job.resolved', async (trx) => {
    const job = await trx
      .selectFrom('jobs')
      .select(['id', 'project_id', 'request', 'status', 'error_code', 'reserved_microusd'])
      .select(['input_tokens', 'output_tokens', 'cached_input_tokens', 'training_tokens'])
      .where('id', '=', jobId)
      .modifyEnd(sql`for no key update`)
      .executeTakeFirst();
    if (job === undefined) return { kind: 'not_found' };
    if (job.status !== 'reconciliation_required') return { kind: 'wrong_status', status: job.status };
    const { reserved_microusd, input_tokens, output_tokens, cached_input_tokens, training_tokens } = job;
    if (chargedMicrousd > reserved_microusd) return { kind: 'above_reservation', reserved_microusd };
    await endJob(trx, job, {
      ...waived,
      usage: { input_tokens, output_tokens, cached_input_tokens, training_tokens },
      compute_microusd: chargedMicrousd,
      status: 'failed',
      result: null,
      error_code: job.error_code,
      memo: 'settled by an operator',
    });
    return { kind: 'resolved', project_id: job.project_id, reserved_microusd, charged_microusd: chargedMicrousd };
  });
}
