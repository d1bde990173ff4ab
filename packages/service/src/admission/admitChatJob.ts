import type { AdmissionTurns } from './admissionTurns.js';
import { admitInTurn } from './admitInTurn.js';
import { admitJob, type AdmissionContext, type AdmissionOutcome, type ModelOperation } from './admitJob.js';
import type { FullQueue, FullQueues } from './fullQueues.js';
import type { UnderWay } from './underWay.js';

/** The knowledge that the API of one process has of its own requests. */
export interface RequestsOfProcess {
  readonly fullQueues: FullQueues;
  readonly turns: AdmissionTurns;
  readonly underWay: UnderWay;
}

export interface ChatAdmissionContext extends AdmissionContext, RequestsOfProcess {}

/** The operation of a chat completion. */
export interface ChatOperation extends ModelOperation {
  readonly isNew: boolean;
}

/**
 * Admits the job of a chat completion. "Same key with changed input, or a different key/credential on the same intent
 * in chat: 409": the answer itself comes back here, and belongs to the API key that asked for it.
 */
export async function admitChatJob(context: ChatAdmissionContext, operation: ChatOperation): Promise<AdmissionOutcome> {
  if (operation.isNew && context.execution === 'on') return admitNew(context, operation);
  const outcome = await admitInTurn(context, operation);
  const foreign = outcome.kind === 'replayed' && outcome.api_key_id !== operation.key.id;
  return foreign ? { kind: 'refused', code: 'idempotency_key_of_another' } : outcome;
}

/** A refusal should take little from what is admitted, so it is found without the database where it can be. */
async function admitNew(context: ChatAdmissionContext, operation: ChatOperation): Promise<AdmissionOutcome> {
  const { fullQueues, turns } = context;
  const { project_id } = operation.key;
  const tooMany = findTooMany(context, project_id);
  if (tooMany !== null) return { kind: 'refused', code: tooMany };
  return turns.take(project_id, async () => {
    const full = fullQueues.find(project_id);
    if (full !== null) return { kind: 'refused', code: full };
    const outcome = await admitJob(context, operation);
    const code = outcome.kind === 'refused' ? outcome.code : null;
    if (code === 'project_queue_full' || code === 'service_queue_full') fullQueues.found(code, project_id);
    else fullQueues.foundRoom(project_id);
    return outcome;
  });
}

/** A request that would have to wait behind others will find this. One that need not wait looks for itself. */
function findTooMany(context: ChatAdmissionContext, projectId: string): FullQueue | null {
  const { fullQueues, open_jobs, turns, underWay } = context;
  if (!turns.areTaken(projectId)) return null;
  const { of_project, of_service } = underWay.counts(projectId);
  if (of_project <= open_jobs.of_project && of_service <= open_jobs.of_service) return null;
  fullQueues.sawMany();
  return of_project > open_jobs.of_project ? 'project_queue_full' : 'service_queue_full';
}
