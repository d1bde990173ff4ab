import type { JobKind } from '@engraft/contract';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RunOutcome } from './runJob.js';

export interface WorkerMetrics {
  observe(kind: JobKind, outcome: RunOutcome, duration_ms: number, waited_ms: number): void;
  /** Counts an adapter of a version that is newly found damaged or missing. */
  adapterDamaged(): void;
  /** Says from now on whether learning waits, asked whenever the metrics are read. */
  watchLearning(isPaused: () => boolean): void;
}

const seconds_buckets = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000];

export function createWorkerMetrics(registry: Registry): WorkerMetrics {
  const registers = [registry];
  const labelNames = ['kind', 'outcome'] as const;
  const runs = new Counter({
    name: 'engraft_job_runs_total',
    help: 'Runs of jobs by how they ended.',
    labelNames,
    registers,
  });
  const run_seconds = new Histogram({
    name: 'engraft_job_run_seconds',
    help: 'From claim to end.',
    labelNames: ['kind'] as const,
    buckets: seconds_buckets,
    registers,
  });
  const wait_seconds = new Histogram({
    name: 'engraft_job_wait_seconds',
    help: 'From admission, or from the last write of a worker that died, to the claim.',
    labelNames: ['kind'] as const,
    buckets: seconds_buckets,
    registers,
  });
  const damaged_adapters = new Counter({
    name: 'engraft_adapters_damaged_total',
    help: 'Adapters of versions that were found damaged or missing.',
    registers,
  });
  let isPaused = (): boolean => false;
  new Gauge({
    name: 'engraft_learning_paused',
    help: '1 while learning waits for room on a disk, for the file system of the adapters, or for a process to train in.',
    registers,
    collect() {
      this.set(isPaused() ? 1 : 0);
    },
  });
  return {
    adapterDamaged: () => damaged_adapters.inc(),
    watchLearning: (watched) => {
      isPaused = watched;
    },
    observe: (kind, outcome, duration_ms, waited_ms) => {
      runs.inc({ kind, outcome: outcome.kind === 'ended' ? outcome.status : outcome.kind });
      run_seconds.observe({ kind }, duration_ms / 1000);
      wait_seconds.observe({ kind }, waited_ms / 1000);
    },
  };
}
