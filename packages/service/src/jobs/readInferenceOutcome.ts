import { inferenceResult, type InferenceResult, type JobErrorCode, type TokenUsage } from '@engraft/contract';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';

/** The outcome, for a caller who waits for an inference. */
export type InferenceOutcome =
  | { readonly kind: 'succeeded'; readonly inference: SucceededInference }
  | { readonly kind: 'failed'; readonly error_code: JobErrorCode }
  | { readonly kind: 'reconciliation_required' }
  | { readonly kind: 'pending' };

export interface SucceededInference {
  readonly job_id: string;
  readonly subject_id: string;
  readonly adapter_version: string;
  readonly result: InferenceResult;
  readonly usage: TokenUsage;
  /** A part of `usage.output_tokens`. */
  readonly reasoning_tokens: number;
  readonly created_at: Date;
}

/** The state of the inference job. Throws if there is no such job, or its result does not fit the contract. */
export async function readInferenceOutcome(db: Kysely<Database>, jobId: string): Promise<InferenceOutcome> {
  const row = await db
    .selectFrom('jobs')
    .select([
      'forgotten_at',
      'status',
      'error_code',
      'result',
      'subject_name',
      'adapter_version',
      'created_at',
      'reasoning_tokens',
    ])
    .select(['input_tokens', 'output_tokens', 'cached_input_tokens', 'training_tokens'])
    .where('id', '=', jobId)
    .where('kind', '=', 'inference')
    .executeTakeFirstOrThrow();
  switch (row.status) {
    case 'queued':
    case 'running':
      return { kind: 'pending' };
    case 'reconciliation_required':
      return { kind: 'reconciliation_required' };
    case 'failed':
      return { kind: 'failed', error_code: row.error_code ?? 'internal_error' };
    case 'succeeded':
      break;
    case 'ready':
    case 'rejected':
      throw new Error(`inference job ${jobId} is ${row.status}`);
  }
  // It was forgotten while its caller waited for it.
  if (row.forgotten_at !== null) return { kind: 'failed', error_code: 'cancelled' };
  const { input_tokens, output_tokens, cached_input_tokens, training_tokens } = row;
  return {
    kind: 'succeeded',
    inference: {
      job_id: jobId,
      subject_id: row.subject_name,
      adapter_version: row.adapter_version,
      result: inferenceResult.parse(row.result),
      usage: { input_tokens, output_tokens, cached_input_tokens, training_tokens },
      reasoning_tokens: row.reasoning_tokens,
      created_at: row.created_at,
    },
  };
}
