import { admitJob, type AdmissionContext, type AdmissionOutcome, type ModelOperation } from './admitJob.js';

/**
 * Admits the job of a chat completion. "Same key with changed input, or a different key/credential on the same intent
 * in chat: 409": the answer itself comes back here, and it belongs to the API key that asked for it.
 */
export async function admitChatJob(context: AdmissionContext, operation: ModelOperation): Promise<AdmissionOutcome> {
  const outcome = await admitJob(context, operation);
  const foreign = outcome.kind === 'replayed' && outcome.api_key_id !== operation.key.id;
  return foreign ? { kind: 'refused', code: 'idempotency_key_of_another' } : outcome;
}
