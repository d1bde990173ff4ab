import { job as jobSchema, type Job } from '@engraft/contract';
import type { Selectable } from 'kysely';
import type { JobsTable } from '../db/schema.js';

/** Never `request`: "provider checkpoint paths and source passages are never exposed". */
export const jobResourceColumns = [
  'id',
  'tenant_id',
  'subject_name',
  'kind',
  'status',
  'phase',
  'adapter_version',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'training_tokens',
  'reserved_microusd',
  'charged_microusd',
  'settled',
  'pricing_version',
  'compute_microusd',
  'storage_microusd',
  'result',
  'error_code',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof JobsTable)[];

export type JobResourceRow = Pick<Selectable<JobsTable>, (typeof jobResourceColumns)[number]>;

/** A job as the API shows it. Throws if the stored result is not one of the contract's. */
export function toJobResource(row: JobResourceRow): Job {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    subject_id: row.subject_name,
    kind: row.kind,
    status: row.status,
    phase: row.phase,
    adapter_version: row.adapter_version,
    usage: {
      input_tokens: row.input_tokens,
      output_tokens: row.output_tokens,
      cached_input_tokens: row.cached_input_tokens,
      training_tokens: row.training_tokens,
    },
    billing: {
      reserved_microusd: row.reserved_microusd,
      charged_microusd: row.charged_microusd,
      settled: row.settled,
      pricing_version: row.pricing_version,
      compute_microusd: row.compute_microusd,
      storage_microusd: row.storage_microusd,
    },
    result: jobSchema.shape.result.parse(row.result),
    error: row.error_code === null ? null : { code: row.error_code, retryable: false },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
