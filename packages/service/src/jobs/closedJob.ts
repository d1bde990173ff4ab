import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { jobRequest, serializeJobRequest } from './jobRequest.js';

/**
 * Removes the texts of a job that nobody goes on with, and returns the columns that change with it: it has no worker,
 * lease, training or trace any more.
 */
export async function closedJob(trx: Transaction<Database>, job: { readonly id: string; readonly request: unknown }) {
  return {
    request: await removeTexts(trx, job),
    training_progress: null,
    trace_context: null,
    worker_id: null,
    lease_expires_at: null,
    updated_at: sql<Date>`now()`,
  };
}

/**
 * Removes what a learning job's phases and its teacher left behind. Returns its request without the texts it was given,
 * as JSON. Nothing is kept of an unknown request, since any part of it may be a text.
 */
async function removeTexts(
  trx: Transaction<Database>,
  { id, request: stored }: { readonly id: string; readonly request: unknown },
): Promise<string> {
  const request = jobRequest.safeParse(stored).data;
  if (request?.kind === 'inference') return serializeJobRequest({ ...request, messages: [], tools: [] });
  await trx.updateTable('job_phases').set({ outcome: 'null' }).where('job_id', '=', id).execute();
  await trx.updateTable('teacher_calls').set({ answer: null }).where('job_id', '=', id).execute();
  return request === undefined ? 'null' : serializeJobRequest({ ...request, content: '' });
}
