import type { AdmissionTurns } from './admissionTurns.js';
import { admitJob, type AdmissionContext, type AdmissionOutcome, type ModelOperation } from './admitJob.js';

export interface TurnContext extends AdmissionContext {
  readonly turns: AdmissionTurns;
}

/**
 * `admitJob` in the project's turn. Every admission of a process is one, so that however much one project sends, the
 * others find connections to the database, and the thread that counts tokens is soon free for them.
 */
export function admitInTurn(context: TurnContext, operation: ModelOperation): Promise<AdmissionOutcome> {
  return context.turns.take(operation.key.project_id, () => admitJob(context, operation));
}
