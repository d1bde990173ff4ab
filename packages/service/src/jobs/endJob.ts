import type { InferenceResult, JobErrorCode, LearningResult, TokenUsage } from '@engraft/contract';
import type { LearningTrace } from '@engraft/contract/console';
import type { Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { settleReservation } from '../ledger/settleReservation.js';
import { closedJob } from './closedJob.js';
import type { LeasedJob } from './jobLease.js';

export interface JobEnding {
  readonly status: 'succeeded' | 'ready' | 'rejected' | 'failed';
  readonly result: InferenceResult | LearningResult | null;
  readonly error_code: JobErrorCode | null;
  /** The tokens that are billed. They exclude repeated and waived work. */
  readonly usage: TokenUsage;
  /** A part of `usage.output_tokens`; 0 if left out. */
  readonly reasoning_tokens?: number;
  /** How a learning went. */
  readonly trace?: LearningTrace;
  readonly compute_microusd: number;
  readonly storage_microusd: number;
  /** Memo of the transfer in the ledger. */
  readonly memo?: string;
}

/** Nothing is billed, since the failure was ours. */
export const waived = {
  usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, training_tokens: 0 },
  compute_microusd: 0,
  storage_microusd: 0,
} as const;

/**
 * Ends a job that this transaction holds. It posts the charge, releases the rest of the reservation, and removes the
 * texts that the job was given and what its phases left behind. "There is no moment at which a job is done and not
 * charged, or charged and not done."
 */
export async function endJob(
  trx: Transaction<Database>,
  job: Pick<LeasedJob, 'id' | 'project_id' | 'request'>,
  { result, trace, usage, memo, ...ending }: JobEnding,
): Promise<void> {
  const chargedMicrousd = ending.compute_microusd + ending.storage_microusd;
  const settlement = { project_id: job.project_id, job_id: job.id, charged_microusd: chargedMicrousd };
  await settleReservation(trx, memo === undefined ? settlement : { ...settlement, memo });
  await trx
    .updateTable('jobs')
    .set({
      ...ending,
      ...usage,
      result: result === null ? null : JSON.stringify(result),
      learning_trace: trace === undefined ? null : JSON.stringify(trace),
      phase: 'done',
      settled: true,
      ...(await closedJob(trx, job)),
    })
    .where('id', '=', job.id)
    .execute();
}
