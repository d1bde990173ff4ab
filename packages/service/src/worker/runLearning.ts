import { baseVersion, storageChargeMicrousd } from '@engraft/contract';
import {
  learnPassage,
  RemoteModelError,
  usageOfProgress,
  type LearningBudget,
  type LearningJournal,
  type LearningOutcome,
} from '@engraft/learning';
import { recordKeptAdapter, recordLeftAdapter } from '../adapterStore/keptAdapters.js';
import { openWorkFolder } from '../adapterStore/workFolder.js';
import { crashPoint } from '../crashPoints.js';
import { beginLearning } from '../jobs/beginLearning.js';
import type { ClaimedJob } from '../jobs/claimJob.js';
import { completeLearning, initialHostingSeconds, type LearningCompletion } from '../jobs/completeLearning.js';
import { failJob } from '../jobs/failJob.js';
import type { LeasedWrite } from '../jobs/jobLease.js';
import type { InternalizationJobRequest } from '../jobs/jobRequest.js';
import { loadPhaseOutcome, storePhaseOutcome } from '../jobs/phaseOutcomes.js';
import { recordPhase } from '../jobs/recordPhase.js';
import { hasUnknownTeacherCall } from '../jobs/teacherCalls.js';
import { loadTrainingProgress, storeTrainingProgress } from '../jobs/trainingProgress.js';
import { priceCardOf } from '../pricing/priceCardOf.js';
import { markAdapterIntact } from '../versions/adapterDamage.js';
import { readEarlierRehearsals } from '../versions/earlierRehearsals.js';
import { withEngineRetries } from './engineRetries.js';
import { intactParent, isAdapterDamaged } from './damagedAdapter.js';
import { cleanBase, findAdapter, type UsableAdapter } from './findAdapter.js';
import {
  assertHeld,
  baseModelHash,
  LeaseLost,
  seedOf,
  type JobContext,
  type RunReport,
  type StopSignals,
} from './jobContext.js';
import type { JobObservation } from './jobObservation.js';
import { logNotice } from './logNotice.js';
import { teacherCallsOf } from './teacherJournal.js';
import { whenDatabaseIsBack } from './whenDatabaseIsBack.js';

/** The largest adapter that this service makes. Hosting of this size is set aside before computing begins. */
const maxAdapterBytes = 1_000_000_000;

/**
 * teaching → scoring → training → evaluating → saving → settling. The learning package does the first four. Rejects
 * with `EngineError` when the engine fails, and with `LeaseLost`.
 */
export async function runLearning(
  context: JobContext,
  observation: JobObservation,
  job: ClaimedJob,
  request: InternalizationJobRequest,
  signals: StopSignals,
): Promise<RunReport> {
  const { db } = context;
  // Comes before anything else, as the teacher may be a different one now, or none.
  if (await hasUnknownTeacherCall(db, job.job_id)) {
    throw new RemoteModelError('receipt_missing', 'a call of an earlier claim was made, and its answer is lost');
  }
  const halted = AbortSignal.any([signals.shutdown, signals.lease]);
  const modelHash = await baseModelHash(context, halted);
  const start = await findStart(context, job, modelHash, halted);
  if (start.kind === 'failed') {
    assertHeld(await failJob(db, job, start.error_code));
    return { status: 'failed', error_code: start.error_code };
  }
  try {
    return await learnFrom(start, modelHash, context, observation, job, request, signals);
  } finally {
    start.giveBack();
  }
}

async function learnFrom(
  start: Extract<LearningStart, { kind: 'usable' }>,
  modelHash: string,
  context: JobContext,
  observation: JobObservation,
  job: ClaimedJob,
  request: InternalizationJobRequest,
  { shutdown, lease }: StopSignals,
): Promise<RunReport> {
  const { db, engine, dataFolder, logger } = context;
  const halted = AbortSignal.any([shutdown, lease]);
  let parent = await intactParent(context, job.adapter_version, start, halted);
  const input = {
    content: request.content,
    earlier: await readEarlierRehearsals(db, job.adapter_version === baseVersion ? null : job.adapter_version),
    budget: budgetOf(job),
    seed: seedOf(job.job_id),
    isolationKey: JSON.stringify(['learning', job.job_id]),
    workFolder: await openWorkFolder(dataFolder, job),
  };
  const journal = journalOf(context, observation, job, lease);
  const learn = async (): Promise<LearningOutcome> =>
    learnPassage(engine, { ...input, ...(await context.method()), parent }, journal, {
      signal: lease,
      stopping: shutdown,
      onNotice: (notice) => logNotice(logger, job.job_id, notice),
    });
  const retried = (): Promise<LearningOutcome> => withEngineRetries(learn, halted, logger);
  const outcome = await retried().catch(async (error: unknown) => {
    // The parent's files may have been damaged since, or those of the candidate, which is then trained again.
    if (!isAdapterDamaged(error)) throw error;
    if (parent !== null) parent = await intactParent(context, job.adapter_version, start, halted);
    return retried();
  });
  const completion = await toCompletion(context, observation, job, outcome, {
    base_model_hash: modelHash,
    parent_damaged: parent !== start.adapter,
    parent_base_model_changed: start.base_model_changed,
    activate: request.activate,
    signal: halted,
  });
  assertHeld(await completeLearning(db, job, completion));
  observation.charged(completion.usage);
  return outcome.kind === 'budget_exhausted' ? reports[outcome.kind] : { ...reports[outcome.kind], gate: outcome.gate };
}

/** Where learning starts: from the parent, or from base if the parent belongs to another checkpoint. */
type LearningStart =
  | ({ readonly kind: 'usable'; readonly base_model_changed: boolean } & UsableAdapter)
  | { readonly kind: 'failed'; readonly error_code: 'adapter_expired' | 'base_model_changed' };

async function findStart(
  context: JobContext,
  job: ClaimedJob,
  modelHash: string,
  signal: AbortSignal,
): Promise<LearningStart> {
  const { db, store, logger } = context;
  const begun = await beginLearning(db, job, modelHash);
  if (begun === 'lost') throw new LeaseLost('the lease has passed to another worker');
  if (begun === 'base_model_changed') return { kind: 'failed', error_code: begun };
  const found = await findAdapter(db, store, job.adapter_version, () => Promise.resolve(modelHash), signal);
  switch (found.kind) {
    case 'found':
      return { ...found, kind: 'usable', base_model_changed: false };
    case 'adapter_expired':
      return { kind: 'failed', error_code: found.kind };
    case 'base_model_changed':
      logger.warn(
        { version_id: job.adapter_version },
        'a passage is learned from base, as its parent was trained on another base model',
      );
      return { kind: 'usable', base_model_changed: true, ...cleanBase };
  }
}

const reports = {
  accepted: { status: 'ready' },
  rejected: { status: 'rejected', error_code: 'validation_failed' },
  budget_exhausted: { status: 'failed', error_code: 'budget_exhausted' },
} as const satisfies Record<LearningOutcome['kind'], RunReport>;

/** `max_cost_microusd` "caps compute plus initial 24-hour hosting", so hosting is taken off first. */
function budgetOf(job: ClaimedJob): LearningBudget {
  const card = priceCardOf(job.pricing_version);
  const hostingMicrousd = storageChargeMicrousd(maxAdapterBytes, initialHostingSeconds, card);
  return {
    max_compute_microusd: job.reserved_microusd - hostingMicrousd,
    input_nanousd_per_token: card.input_nanousd_per_token,
    output_nanousd_per_token: card.output_nanousd_per_token,
    cached_input_nanousd_per_token: card.cached_input_nanousd_per_token,
    training_nanousd_per_token: card.training_nanousd_per_token,
  };
}

/** Stores finished phases in `job_phases`, and the progress of a training in the job, under the lease. */
function journalOf(
  { db }: JobContext,
  observation: JobObservation,
  job: ClaimedJob,
  lease: AbortSignal,
): LearningJournal {
  return {
    load: (phase) => loadPhaseOutcome(db, job.job_id, phase),
    store: async (phase, outcome, usage) => {
      crashPoint('phase.done');
      assertHeld(await storePhaseOutcome(db, job, { phase, outcome, usage }));
      observation.work.stored(phase, usage);
    },
    remoteCalls: teacherCallsOf(db, job, lease, (usage) => observation.work.doneElsewhere(usage)),
    entered: async (phase) => {
      assertHeld(await recordPhase(db, job, phase));
      observation.entered(phase);
    },
    progress: {
      load: () => loadTrainingProgress(db, job.job_id),
      store: async (progress, steps) => {
        crashPoint('snapshot.written');
        const write = (): Promise<LeasedWrite> => storeTrainingProgress(db, job, { progress, steps });
        assertHeld(await whenDatabaseIsBack(write, lease));
        observation.work.kept(usageOfProgress(progress));
      },
    },
  };
}

/** The checkpoint of a candidate, what was wrong with its parent, and whether it is to be active. */
interface Provenance {
  readonly base_model_hash: string;
  /** It was trained from base, since its parent could not be used. */
  readonly parent_damaged: boolean;
  readonly parent_base_model_changed: boolean;
  readonly activate: boolean;
}

async function toCompletion(
  { db, store }: JobContext,
  observation: JobObservation,
  job: ClaimedJob,
  outcome: LearningOutcome,
  {
    base_model_hash,
    parent_damaged,
    parent_base_model_changed,
    activate,
    signal,
  }: Provenance & {
    readonly signal: AbortSignal;
  },
): Promise<LearningCompletion> {
  const { usage } = outcome;
  if (outcome.kind === 'budget_exhausted') return { kind: 'budget_exhausted', usage };
  const training = {
    ...outcome.training,
    ...(parent_damaged ? { parent_damaged } : {}),
    ...(parent_base_model_changed ? { parent_base_model_changed } : {}),
  };
  const report = { validation: outcome.validation, training };
  const trace = { loss: [...outcome.trace.loss], questions: [...outcome.trace.questions] };
  if (outcome.kind === 'rejected') {
    const { reasons, message } = outcome.rejection;
    return { kind: 'rejected', usage, report: { ...report, rejection: { reasons: [...reasons], message } }, trace };
  }
  assertHeld(await recordPhase(db, job, 'saving'));
  observation.entered('saving');
  assertHeld(await recordKeptAdapter(db, job, outcome.adapter.contentHash));
  const { contentHash: adapterHash } = outcome.adapter;
  await store.keep(outcome.adapter, signal);
  await markAdapterIntact(db, adapterHash);
  const settling = await recordPhase(db, job, 'settling');
  if (settling === 'lost') await recordLeftAdapter(db, job.job_id, adapterHash);
  assertHeld(settling);
  observation.entered('settling');
  const adapter = {
    adapter_hash: adapterHash,
    base_model_hash,
    size_bytes: outcome.adapter.sizeBytes,
    rehearsal: outcome.rehearsal,
  };
  return { kind: 'accepted', usage, report, trace, adapter, activate };
}
