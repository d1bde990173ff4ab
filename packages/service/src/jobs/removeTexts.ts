import type { Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { jobRequest, serializeJobRequest } from './jobRequest.js';

/**
 * Removes what a learning job's phases and its teacher left behind, and returns its request without the texts it was
 * given, as JSON. Of what is no request that we know, nothing is kept: any of it may be a text.
 */
export async function removeTexts(
  trx: Transaction<Database>,
  { id, request: stored }: { readonly id: string; readonly request: unknown },
): Promise<string> {
  const request = jobRequest.safeParse(stored).data;
  if (request?.kind === 'inference') return serializeJobRequest({ ...request, messages: [], tools: [] });
  await trx.updateTable('job_phases').set({ outcome: 'null' }).where('job_id', '=', id).execute();
  await trx.updateTable('teacher_calls').set({ answer: null }).where('job_id', '=', id).execute();
  return request === undefined ? 'null' : serializeJobRequest({ ...request, content: '' });
}
