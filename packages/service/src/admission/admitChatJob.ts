import { admitJob, type AdmissionContext, type AdmissionOutcome, type ModelOperation } from './admitJob.js';
import type { FullQueues } from './fullQueues.js';

export interface ChatAdmissionContext extends AdmissionContext {
  readonly fullQueues: FullQueues;
}

/** The operation of a chat completion. */
export interface ChatOperation extends ModelOperation {
  /** Its idempotency key was just made, so it cannot be a replay. */
  readonly isNew: boolean;
}

/**
 * Admits the job of a chat completion. "Same key with changed input, or a different key/credential on the same intent
 * in chat: 409": the answer itself comes back here, and belongs to the API key that asked for it.
 */
export async function admitChatJob(context: ChatAdmissionContext, operation: ChatOperation): Promise<AdmissionOutcome> {
  const { fullQueues } = context;
  const { project_id } = operation.key;
  const asksQueues = operation.isNew && context.execution === 'on';
  const full = asksQueues ? fullQueues.find(project_id) : null;
  if (full !== null) return { kind: 'refused', code: full };
  const outcome = await admitJob(context, operation);
  if (outcome.kind === 'refused' && (outcome.code === 'project_queue_full' || outcome.code === 'service_queue_full')) {
    fullQueues.found(outcome.code, project_id);
  } else if (asksQueues) {
    fullQueues.foundRoom(project_id);
  }
  const foreign = outcome.kind === 'replayed' && outcome.api_key_id !== operation.key.id;
  return foreign ? { kind: 'refused', code: 'idempotency_key_of_another' } : outcome;
}
