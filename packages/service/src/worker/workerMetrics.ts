import type { JobKind, JobPhase, TokenUsage } from '@engraft/contract';
import { Counter, Gauge, type Registry } from 'prom-client';
import { tracedHistogram } from '../metrics/tracedHistogram.js';
import { noTokens } from './tokenCounts.js';
import type { WorkReport } from './workMeter.js';

export interface WorkerMetrics {
  /** `outcome` is a job's status, or how else a run ended. `traceId` is for the exemplar, or `null`. */
  observe(kind: JobKind, outcome: string, seconds: RunSeconds, traceId: string | null): void;
  /** A phase of learning ended, or was cut off. */
  phase(phase: JobPhase, outcome: 'done' | 'cut_off', seconds: number, traceId: string | null): void;
  /** Tokens went through the model, for whatever end. */
  engineTokens(kind: JobKind, usage: TokenUsage): void;
  /** Counts the work that a run charged, waived and repeated. */
  work(kind: JobKind, report: WorkReport): void;
  /** The engine lost a call with its process. */
  callLost(kind: JobKind): void;
  /** A job was claimed whose worker died or lost the lease. */
  takenOver(kind: JobKind): void;
  /** Counts an adapter that was newly found damaged or missing. */
  adapterDamaged(): void;
  /** From now on reports whether learning waits, whenever the metrics are read. */
  watchLearning(isPaused: () => boolean): void;
}

export interface RunSeconds {
  readonly run: number;
  readonly wait: number;
}

const secondsBuckets = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000];
const jobKinds = ['inference', 'internalization'] as const satisfies readonly JobKind[];

export function createWorkerMetrics(registry: Registry): WorkerMetrics {
  const registers = [registry];
  const damagedAdapters = new Counter({
    name: 'engraft_adapters_damaged_total',
    help: 'Adapters of versions that were found damaged or missing.',
    registers,
  });
  let isPaused = (): boolean => false;
  new Gauge({
    name: 'engraft_learning_paused',
    help: '1 while learning waits for room on a disk, for the adapters, or for a process to train in.',
    registers,
    collect() {
      this.set(isPaused() ? 1 : 0);
    },
  });
  return {
    ...createRunMetrics(registry),
    ...createWorkMetrics(registers),
    adapterDamaged: () => damagedAdapters.inc(),
    watchLearning: (watched) => {
      isPaused = watched;
    },
  };
}

/** How runs end. */
function createRunMetrics(registry: Registry): Pick<WorkerMetrics, 'observe' | 'phase' | 'callLost' | 'takenOver'> {
  const registers = [registry];
  const runs = new Counter({
    name: 'engraft_job_runs_total',
    help: 'Runs of jobs by how they ended.',
    labelNames: ['kind', 'outcome'] as const,
    registers,
  });
  const buckets = secondsBuckets;
  const observeRun = tracedHistogram(
    { name: 'engraft_job_run_seconds', help: 'From claim to end.', labelNames: ['kind'], buckets },
    registry,
  );
  const observeWait = tracedHistogram(
    {
      name: 'engraft_job_wait_seconds',
      help: 'From admission, or from the last write of a worker that died, to the claim.',
      labelNames: ['kind'],
      buckets,
    },
    registry,
  );
  const observePhase = tracedHistogram(
    {
      name: 'engraft_learning_phase_seconds',
      help: 'Phases of learning jobs: from their beginning to their end, or to where the run was cut off.',
      labelNames: ['phase', 'outcome'],
      buckets,
    },
    registry,
  );
  const lostCalls = new Counter({
    name: 'engraft_engine_calls_lost_total',
    help: 'Calls that an engine process lost as it ended; they are made again.',
    labelNames: ['kind'] as const,
    registers,
  });
  const takenOver = new Counter({
    name: 'engraft_jobs_taken_over_total',
    help: 'Jobs that were claimed from a worker that had died or lost its lease.',
    labelNames: ['kind'] as const,
    registers,
  });
  // So that the first one is an increase.
  for (const kind of jobKinds) {
    runs.inc({ kind, outcome: 'failed' }, 0);
    lostCalls.inc({ kind }, 0);
    takenOver.inc({ kind }, 0);
  }
  return {
    observe: (kind, outcome, seconds, traceId) => {
      runs.inc({ kind, outcome });
      observeRun({ kind }, seconds.run, traceId);
      observeWait({ kind }, seconds.wait, traceId);
    },
    phase: (phase, outcome, seconds, traceId) => observePhase({ phase, outcome }, seconds, traceId),
    callLost: (kind) => lostCalls.inc({ kind }),
    takenOver: (kind) => takenOver.inc({ kind }),
  };
}

const tokenTypes = [
  ['input', 'input_tokens'],
  ['cached_input', 'cached_input_tokens'],
  ['output', 'output_tokens'],
  ['training', 'training_tokens'],
] as const satisfies readonly (readonly [string, keyof TokenUsage])[];

/** Counts the tokens that the engine works through, and what becomes of them. */
function createWorkMetrics(registers: Registry[]): Pick<WorkerMetrics, 'engineTokens' | 'work'> {
  const done = new Counter({
    name: 'engraft_engine_tokens_total',
    help: 'Tokens of calls that the engine has answered. Cached input is a part of input.',
    labelNames: ['kind', 'type'] as const,
    registers,
  });
  const charged = new Counter({
    name: 'engraft_charged_tokens_total',
    help: 'Tokens that ended jobs were charged for, those of a teacher elsewhere among them.',
    labelNames: ['kind', 'type'] as const,
    registers,
  });
  const uncharged = new Counter({
    name: 'engraft_uncharged_tokens_total',
    help: 'Tokens in no charge: repeated after an engine or a worker was lost, or of jobs that failed.',
    labelNames: ['kind', 'type', 'reason'] as const,
    registers,
  });
  const add = (usage: TokenUsage, count: (type: string, tokens: number) => void): void => {
    for (const [type, name] of tokenTypes) count(type, usage[name]);
  };
  const engineTokens = (kind: JobKind, usage: TokenUsage): void => {
    add(usage, (type, tokens) => done.inc({ kind, type }, tokens));
  };
  const work = (kind: JobKind, report: WorkReport): void => {
    add(report.charged, (type, tokens) => charged.inc({ kind, type }, tokens));
    for (const reason of ['waived', 'repeated'] as const) {
      add(report[reason], (type, tokens) => uncharged.inc({ kind, type, reason }, tokens));
    }
  };
  const none = noTokens;
  for (const kind of jobKinds) {
    engineTokens(kind, none);
    work(kind, { charged: none, waived: none, repeated: none });
  }
  return { engineTokens, work };
}
