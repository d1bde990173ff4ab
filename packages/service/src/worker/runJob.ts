import { EngineError } from '@engraft/engine';
import { RemoteModelError } from '@engraft/learning';
import { AdapterStoreMissing } from '../adapterStore/adapterStoreMissing.js';
import { AdapterStoreUnavailable } from '../adapterStore/adapterStoreUnavailable.js';
import { removeClaimFolder, removeWorkFolder } from '../adapterStore/workFolder.js';
import { isDatabaseUnavailable } from '../db/databaseErrors.js';
import type { ClaimedJob } from '../jobs/claimJob.js';
import { failJob } from '../jobs/failJob.js';
import { parseJobRequest } from '../jobs/jobRequest.js';
import { loadPhaseOutcome } from '../jobs/phaseOutcomes.js';
import { releaseJob } from '../jobs/releaseJob.js';
import { requireReconciliation } from '../jobs/requireReconciliation.js';
import { hasUnknownTeacherCall } from '../jobs/teacherCalls.js';
import { loadTrainingProgress } from '../jobs/trainingProgress.js';
import { LeaseLost, assertHeld, type JobContext, type RunOutcome, type StopSignals } from './jobContext.js';
import { JobObservation } from './jobObservation.js';
import { keepLease } from './keepLease.js';
import { runInference } from './runInference.js';
import { runLearning } from './runLearning.js';
import { NoTrainingProcess } from './noTrainingProcess.js';
import { areNoTokens } from './tokenCounts.js';
import { isStorageFull } from './storageFull.js';
import { noTracing } from '../tracing/tracing.js';
import { whenDatabaseIsBack } from './whenDatabaseIsBack.js';

/** A job whose workers died this often in a row without progress is given up, since it may be what kills them. */
const maxClaims = 10;

/** Runs a claimed job to its end, and keeps its lease meanwhile. Aborting `shutdown` hands the job back. */
export async function runJob(
  context: JobContext,
  job: ClaimedJob,
  leaseMs: number,
  shutdown: AbortSignal,
): Promise<RunOutcome> {
  const { engine, tracing = noTracing, metrics, logger } = context;
  const observation = new JobObservation(job, engine, tracing, metrics);
  const outcome = await runLeased({ ...context, engine: observation.engine }, observation, job, leaseMs, shutdown);
  const { repeated } = observation.end(outcome);
  if (!areNoTokens(repeated)) logger.info({ job_id: job.job_id, repeated }, 'work was repeated, uncharged');
  if (outcome.kind === 'ended') {
    await removeWorkFolder(context.dataFolder, job.job_id).catch((error: unknown) => {
      context.logger.warn({ err: error, job_id: job.job_id }, 'the work folder could not be removed');
    });
  }
  return outcome;
}

async function runLeased(
  context: JobContext,
  observation: JobObservation,
  job: ClaimedJob,
  leaseMs: number,
  shutdown: AbortSignal,
): Promise<RunOutcome> {
  const { db, logger } = context;
  const lease = keepLease(db, job, leaseMs, logger);
  try {
    if (job.attempts > maxClaims) throw new EngineError('internal', 'the job was claimed too often');
    const request = parseJobRequest(job.stored_request);
    const report = await (request.kind === 'inference'
      ? runInference(context, observation, job, request, AbortSignal.any([shutdown, lease.signal]))
      : runLearning(context, observation, job, request, { shutdown, lease: lease.signal }));
    return { kind: 'ended', ...report };
  } catch (error) {
    if (error instanceof LeaseLost || lease.signal.aborted) return { kind: 'lost' };
    return await afterFailure(context, observation, job, error, { shutdown, lease: lease.signal }).catch(
      (second: unknown): RunOutcome => {
        if (second instanceof LeaseLost || lease.signal.aborted) return { kind: 'lost' };
        logger.error({ err: second, job_id: job.job_id }, 'the job is left until its lease runs out');
        return { kind: 'lost' };
      },
    );
  } finally {
    lease.stop();
  }
}

async function afterFailure(
  context: JobContext,
  { hasLostCall }: JobObservation,
  job: ClaimedJob,
  error: unknown,
  { shutdown, lease }: StopSignals,
): Promise<RunOutcome> {
  const { db, dataFolder, logger } = context;
  // Also while the worker stops: the next one would not know either what is owed for the call.
  if (isUnaccounted(error)) return reconcile(context, job, error.code, error, lease);
  if (!shutdown.aborted && isStorageFull(error)) {
    logger.warn({ err: error, job_id: job.job_id }, 'there is no room on a disk: the job is handed back');
    await removeUnfinished(db, dataFolder, job);
    assertHeld(await whenDatabaseIsBack(() => releaseJob(db, job), lease));
    return { kind: 'handed_back', waitsFor: 'disk' };
  }
  const isAway = error instanceof AdapterStoreUnavailable;
  if (!shutdown.aborted && isAway && job.kind === 'inference') {
    logger.error({ err: error, job_id: job.job_id }, 'the adapter of a job cannot be fetched; nothing is charged');
    assertHeld(await whenDatabaseIsBack(() => failJob(db, job, 'adapter_unavailable'), lease));
    return { kind: 'ended', status: 'failed', error_code: 'adapter_unavailable' };
  }
  if (!shutdown.aborted && (isAway || error instanceof AdapterStoreMissing)) {
    logger.warn({ err: error, job_id: job.job_id }, 'the adapters cannot be reached: the job is handed back');
    assertHeld(await whenDatabaseIsBack(() => releaseJob(db, job), lease));
    return { kind: 'handed_back', waitsFor: 'adapters' };
  }
  if (shutdown.aborted || isDatabaseUnavailable(error) || isWithoutEngine(error)) {
    if (!shutdown.aborted) logger.warn({ err: error, job_id: job.job_id }, 'the job is handed back');
    // Without the answering process no job is claimed anyway, until it is back.
    const waits = !shutdown.aborted && error instanceof NoTrainingProcess;
    // A training that kills its trainer would find it away, and kill it again and again.
    const counts = waits && hasLostCall;
    assertHeld(await whenDatabaseIsBack(() => releaseJob(db, job, { counts }), lease));
    return waits ? { kind: 'handed_back', waitsFor: 'engine' } : { kind: 'handed_back' };
  }
  // Several calls run at once. A refused one may end first while another's outcome is unknown.
  if (await hasUnknownTeacherCall(db, job.job_id)) {
    return reconcile(context, job, 'receipt_missing', error, lease);
  }
  const isForeseen = error instanceof EngineError || error instanceof RemoteModelError;
  const errorCode = isForeseen ? 'engine_failed' : 'internal_error';
  logger.error({ err: error, job_id: job.job_id }, 'the job failed; nothing is charged');
  assertHeld(await whenDatabaseIsBack(() => failJob(db, job, errorCode), lease));
  return { kind: 'ended', status: 'failed', error_code: errorCode };
}

type ReceiptErrorCode = Exclude<RemoteModelError['code'], 'not_executed'>;

/** A teacher or an engine elsewhere was asked, and what it did is not known. */
function isUnaccounted(error: unknown): error is Error & { readonly code: ReceiptErrorCode } {
  if (error instanceof RemoteModelError) return error.code !== 'not_executed';
  return error instanceof EngineError && (error.code === 'receipt_missing' || error.code === 'receipt_inconsistent');
}

async function reconcile(
  { db, logger }: JobContext,
  job: ClaimedJob,
  errorCode: ReceiptErrorCode,
  error: unknown,
  lease: AbortSignal,
): Promise<RunOutcome> {
  const message =
    'a server elsewhere was asked, and what is owed is not known: settle the job with engraft job resolve';
  logger.error({ err: error, job_id: job.job_id, error_code: errorCode }, message);
  assertHeld(await whenDatabaseIsBack(() => requireReconciliation(db, job, errorCode), lease));
  return { kind: 'ended', status: 'reconciliation_required', error_code: errorCode };
}

/**
 * Frees the room that this claim's files take, unless the next claim goes on from them. What cannot be removed goes
 * when the job has ended.
 */
async function removeUnfinished(db: JobContext['db'], dataFolder: string, job: ClaimedJob): Promise<void> {
  try {
    const trained = await loadPhaseOutcome(db, job.job_id, 'training');
    const progress = await loadTrainingProgress(db, job.job_id);
    const isNeeded = [trained, progress].some((kept) => namesClaim(kept, job));
    if (!isNeeded) await removeClaimFolder(dataFolder, job);
  } catch {
    // The database may have no room either, and the job must still be handed back.
  }
}

/** Whether what learning has stored refers to files of this claim: their paths begin with its fencing token. */
function namesClaim(stored: unknown, { fencing_token }: ClaimedJob): boolean {
  return new RegExp(`"${fencing_token}(?:/|\\\\)`).test(JSON.stringify(stored));
}

/** A process of the engine could not be started. Its work was not tried, and nothing is wrong with the job. */
function isWithoutEngine(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'not_running';
}
