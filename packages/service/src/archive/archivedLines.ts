import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';

export interface ArchivedLine {
  /** One JSON object. */
  readonly line: string;
  readonly transfers: number;
}

/**
 * Reads jobs as they are archived, with their transfers and their calls to a remote teacher: numbers and ids. The names
 * of tenant and subject are left out, so that nothing in a file has to be erased. `subject_ref` is an id, and says no
 * more than the row of the subject does, also after that was erased.
 */
export async function readArchivedLines(
  trx: Transaction<Database>,
  jobIds: readonly string[],
): Promise<readonly ArchivedLine[]> {
  const { rows } = await sql<ArchivedLine>`
    select json_strip_nulls(json_build_object(
        'id', id, 'sequence', sequence, 'project_id', project_id, 'subject_ref', subject_ref,
        'api_key_id', api_key_id, 'kind', kind, 'status', status, 'adapter_version', adapter_version,
        'base_model_hash', base_model_hash, 'error_code', error_code, 'pricing_version', pricing_version,
        'reserved_microusd', reserved_microusd, 'compute_microusd', compute_microusd,
        'storage_microusd', storage_microusd, 'charged_microusd', charged_microusd,
        'input_tokens', input_tokens, 'output_tokens', output_tokens, 'cached_input_tokens', cached_input_tokens,
        'training_tokens', training_tokens, 'reasoning_tokens', reasoning_tokens,
        'created_at', ${utc('created_at')}, 'ended_at', ${utc('updated_at')},
        'transfers', entries, 'teacher_calls', calls))::text as line, entry_count as transfers
    from jobs, lateral (
      select count(*)::int as entry_count, coalesce(json_agg(json_build_object(
          'id', transfers.id, 'kind', transfers.kind, 'from_account', from_account, 'to_account', to_account,
          'amount_microusd', amount_microusd, 'memo', memo, 'created_at', ${utc('transfers.created_at')})
          order by transfers.id), '[]') as entries
      from transfers where job_id = jobs.id
    ) as ledger, lateral (
      select json_agg(json_build_object(
          'key', key, 'has_receipt', has_receipt, 'input_tokens', teacher_calls.input_tokens,
          'output_tokens', teacher_calls.output_tokens, 'cached_input_tokens', teacher_calls.cached_input_tokens,
          'asked_at', ${utc('asked_at')})
          order by asked_at, key) as calls
      from teacher_calls where job_id = jobs.id
    ) as teacher
    where id = any(${jobIds}) order by sequence`.execute(trx);
  return rows;
}

/** `2026-08-31T23:59:59.123456Z` */
function utc(column: string) {
  return sql`to_char(${sql.ref(column)} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}
