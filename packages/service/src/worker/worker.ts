import { performance } from 'node:perf_hooks';
import type { JobKind } from '@engraft/contract';
import { claimJob, type ClaimedJob } from '../jobs/claimJob.js';
import { maxLeaseMs } from '../jobs/shortenLeases.js';
import type { JobContext, RunOutcome } from './jobContext.js';
import { startLane } from './lane.js';
import { runJob } from './runJob.js';
import { shareEngine } from './shareEngine.js';
import { createStoragePause, type StorageWait } from './storageFull.js';
import { newWorkerId } from './workerId.js';

export interface WorkerOptions extends JobContext {
  /**
   * Whether the engine has a process that responds. While it has none, jobs wait in the queue, where any worker finds
   * them.
   */
  readonly engineRunning?: () => boolean;
  /** How long a job stays with a silent worker. */
  readonly leaseMs?: number;
  /** How often an idle worker asks the database for work, since another process cannot wake it. */
  readonly pollMs?: number;
  /** How long learning waits for room on a disk, adapters or a process to train in. Inference goes on. */
  readonly storageWait?: StorageWait;
  /** The same for inference. */
  readonly answerWait?: StorageWait;
  /** How many inferences run side by side, which the engine decodes together. */
  readonly concurrentAnswers?: number;
  /** How many passages are learned side by side: as many as can be trained at once. By default one. */
  readonly concurrentLearning?: number;
}

export interface Worker {
  /** A job of the kind was admitted in this process. */
  wake(kind: JobKind): void;
  /**
   * Claims no more. Inferences may finish within the grace period, and whatever still runs is then handed back.
   * Learning is handed back at once: it takes minutes, and its finished phases and training progress are kept.
   */
  stop(graceMs: number): Promise<void>;
}

const defaultLeaseMs = 15_000;
const defaultPollMs = 100;
const defaultStorageWait: StorageWait = { firstMs: 30_000, longestMs: 300_000 };
/** Somebody waits for an answer, and little is lost if it finds no room again. */
const defaultAnswerWait: StorageWait = { firstMs: 1_000, longestMs: 30_000 };
const defaultConcurrentAnswers = 8;
const defaultConcurrentLearning = 1;

/** A job whose workers died more often in a row may be what kills them. See `shareEngine`. */
const suspectAttempts = 2;

/** Runs jobs until it is stopped: inferences side by side, and a few that learn, neither in the other's way. */
export function startWorker({
  engineRunning = () => true,
  leaseMs = defaultLeaseMs,
  pollMs = defaultPollMs,
  storageWait = defaultStorageWait,
  answerWait = defaultAnswerWait,
  concurrentAnswers = defaultConcurrentAnswers,
  concurrentLearning = defaultConcurrentLearning,
  ...options
}: WorkerOptions): Worker {
  // A longer lease would be shortened while its worker counts on it.
  if (leaseMs > maxLeaseMs) throw new RangeError(`leaseMs must be at most ${maxLeaseMs}, not ${leaseMs}`);
  const workerId = newWorkerId();
  const logger = options.logger.child({ worker_id: workerId });
  const { metrics } = options;
  const context: JobContext = { ...options, logger, onAdapterDamaged: () => metrics?.adapterDamaged() };
  const engineFor = shareEngine(options.engine);
  const pauses = { internalization: createStoragePause(storageWait), inference: createStoragePause(answerWait) };
  metrics?.watchLearning(() => pauses.internalization.on());
  /** Work done meanwhile would be lost, since nothing can be written, read or trained. */
  const waitAfter = (kind: JobKind, outcome: RunOutcome): void => {
    const pause = pauses[kind];
    if (outcome.kind === 'ended') pause.end();
    // Jobs that run side by side find the same at once.
    if (outcome.kind !== 'handed_back' || outcome.waitsFor === undefined || pause.on()) return;
    const who = kind === 'inference' ? 'answers wait' : 'learning waits';
    const waitMs = pause.begin();
    logger.error({ data_folder: context.dataFolder, wait_ms: waitMs }, whyWaiting[outcome.waitsFor](who));
  };

  const openLane = (kind: JobKind, concurrency: number, handBack: AbortSignal) =>
    startLane<ClaimedJob>({
      concurrency,
      pollMs,
      logger,
      ready: () => engineRunning() && !pauses[kind].on(),
      claim: () => claimJob(context.db, { worker_id: workerId, kind, leaseMs }),
      run: async (job) => {
        const startedAt = performance.now();
        logger.info({ job_id: job.job_id, kind, attempts: job.attempts }, 'job claimed');
        const engine = engineFor(job.attempts > suspectAttempts);
        const outcome = await runJob({ ...context, engine }, job, leaseMs, handBack);
        waitAfter(kind, outcome);
        const durationMs = Math.round(performance.now() - startedAt);
        logger.info({ job_id: job.job_id, kind, ...describe(outcome), duration_ms: durationMs }, 'job run');
      },
    });

  const stopLearning = new AbortController();
  const stopInference = new AbortController();
  const lanes = {
    internalization: openLane('internalization', concurrentLearning, stopLearning.signal),
    inference: openLane('inference', concurrentAnswers, stopInference.signal),
  };

  return {
    wake: (kind) => lanes[kind].wake(),
    stop: async (graceMs) => {
      const drained = Promise.all([lanes.internalization.drain(), lanes.inference.drain()]);
      stopLearning.abort(new Error('the worker is stopping'));
      const timer = setTimeout(() => stopInference.abort(new Error('the worker is stopping')), graceMs);
      await drained;
      clearTimeout(timer);
    },
  };
}

const whyWaiting = {
  disk: (who: string) => `a disk is full: ${who} for room on it`,
  adapters: (who: string) =>
    `the adapters cannot be reached: ${who} for their store (a file system that is not mounted, a bucket that is away)`,
  engine: (who: string) => `a process of the engine cannot be started, or no trainer is free: ${who} for it`,
} as const;

function describe(outcome: RunOutcome): object {
  if (outcome.kind !== 'ended') return { outcome: outcome.kind };
  return { outcome: outcome.status, error_code: outcome.error_code, gate: outcome.gate };
}
