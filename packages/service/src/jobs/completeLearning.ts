import {
  baseVersion,
  computeChargeMicrousd,
  limits,
  storageChargeMicrousd,
  type LearningResult,
  type TokenUsage,
} from '@engraft/contract';
import type { LearningTrace } from '@engraft/contract/console';
import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { priceCardOf } from '../pricing/priceCardOf.js';
import { activateVersion } from '../versions/activateVersion.js';
import { saveVersion } from '../versions/saveVersion.js';
import { endJob } from './endJob.js';
import { lockLeasedJob, type JobLease, type LeasedJob, type LeasedWrite } from './jobLease.js';

type Report = Pick<LearningResult, 'validation' | 'training'>;

export interface KeptAdapter {
  /** `sha256:<hex>`. Its folder is in the adapter store. */
  readonly adapter_hash: string;
  /** The checkpoint that it was trained on. */
  readonly base_model_hash: string;
  readonly size_bytes: number;
  /** Plain data, see `Rehearsal` of the learning package. */
  readonly rehearsal: unknown;
}

export type LearningCompletion =
  | {
      readonly kind: 'accepted';
      readonly usage: TokenUsage;
      readonly report: Report;
      readonly trace: LearningTrace;
      readonly adapter: KeptAdapter;
      /** Whether the request asks for the version to be activated. */
      readonly activate: boolean;
    }
  | {
      readonly kind: 'rejected';
      readonly usage: TokenUsage;
      readonly report: Report & Pick<LearningResult, 'rejection'>;
      readonly trace: LearningTrace;
    }
  | { readonly kind: 'budget_exhausted'; readonly usage: TokenUsage };

export const initialHostingSeconds = limits.initialHostingHours * 3600;

/**
 * running → ready, rejected or failed, in one transaction: the charge, the new version, its activation if the parent is
 * still active, and the end of the job. "Completed compute is charged for rejected candidates, budget exhaustion and
 * other known outcomes; a ready candidate also incurs hosting even when activation was disabled or conflicted."
 */
export async function completeLearning(
  db: Kysely<Database>,
  lease: JobLease,
  completion: LearningCompletion,
): Promise<LeasedWrite> {
  return inTransaction<LeasedWrite>(db, 'learning.settled', async (trx) => {
    const job = await lockLeasedJob(trx, lease);
    if (job === null) return 'lost';
    const { usage } = completion;
    const card = priceCardOf(job.pricing_version);
    const computeMicrousd = computeChargeMicrousd(usage, card);
    if (completion.kind === 'accepted') {
      const hostingMicrousd = storageChargeMicrousd(completion.adapter.size_bytes, initialHostingSeconds, card);
      // The plan left room for hosting. If the adapter is larger than planned, the limit still holds.
      const storageMicrousd = Math.min(hostingMicrousd, job.reserved_microusd - computeMicrousd);
      const result = { ...completion.report, ...(await saveAndActivate(trx, job, completion)) };
      await endJob(trx, job, {
        usage,
        compute_microusd: computeMicrousd,
        storage_microusd: storageMicrousd,
        status: 'ready',
        result,
        trace: completion.trace,
        error_code: null,
      });
      return 'done';
    }
    const charge = { usage, compute_microusd: computeMicrousd, storage_microusd: 0 };
    if (completion.kind === 'rejected') {
      const result = { ...completion.report, activated: false, activation_conflict: false };
      const { trace } = completion;
      await endJob(trx, job, { ...charge, status: 'rejected', result, trace, error_code: 'validation_failed' });
    } else {
      await endJob(trx, job, { ...charge, status: 'failed', result: null, error_code: 'budget_exhausted' });
    }
    return 'done';
  });
}

async function saveAndActivate(
  trx: Transaction<Database>,
  job: LeasedJob,
  { report, adapter, activate }: Extract<LearningCompletion, { kind: 'accepted' }>,
): Promise<Omit<LearningResult, keyof Report>> {
  if (job.subject_ref === null) throw new Error(`job ${job.id} is not a learning job of a subject`);
  const parentVersionId = job.adapter_version === baseVersion ? null : job.adapter_version;
  const version = await saveVersion(trx, {
    ...adapter,
    subject_ref: job.subject_ref,
    parent_version_id: parentVersionId,
    source_job_id: job.id,
    passed_count: report.validation.passed_count,
    total_count: report.validation.total_count,
    hosting_hours: limits.initialHostingHours,
  });
  const candidate = { version_id: version.id };
  if (!activate) return { candidate, activated: false, activation_conflict: false };
  const activation = await activateVersion(trx, {
    subject_ref: job.subject_ref,
    version_id: version.id,
    expected_version_id: parentVersionId,
  });
  return {
    candidate,
    activated: activation.kind === 'activated',
    activation_conflict: activation.kind === 'activation_conflict',
  };
}
