import { createHash } from 'node:crypto';
import type { Engine } from '@engraft/engine';
import type { GateReport, LearningMethod } from '@engraft/learning';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import type { Database } from '../db/schema.js';
import type { LeasedWrite } from '../jobs/jobLease.js';
import type { Tracing } from '../tracing/tracing.js';
import { withEngineRetries } from './engineRetries.js';
import type { WorkerMetrics } from './workerMetrics.js';

/** The resources with which a job is run. */
export interface JobContext {
  readonly db: Kysely<Database>;
  readonly engine: Engine;
  readonly store: AdapterStore;
  readonly dataFolder: string;
  /** How the base model learns. It is the same for every learning job. */
  readonly method: () => Promise<LearningMethod>;
  readonly logger: Logger;
  /** A version's adapter was newly found damaged or missing. */
  readonly onAdapterDamaged?: () => void;
  readonly metrics?: WorkerMetrics;
  /** Without it no traces are taken. */
  readonly tracing?: Tracing;
}

/** The content hash of the engine's checkpoint. Rejects with `EngineError`. */
export async function baseModelHash({ engine, logger }: JobContext, signal: AbortSignal): Promise<string> {
  const { contentHash } = await withEngineRetries(() => engine.describe(), signal, logger);
  return contentHash;
}

/** The signals that end a run early. */
export interface StopSignals {
  /** The job must be handed back. */
  readonly shutdown: AbortSignal;
  /** The job belongs to another worker, or may. */
  readonly lease: AbortSignal;
}

/** How a run ended that still held its lease. */
export interface RunReport {
  readonly status: 'succeeded' | 'ready' | 'rejected' | 'failed' | 'reconciliation_required';
  readonly error_code?: string;
  /** The gate's report on an evaluated candidate. It is only for the log, as a job's result has no place for it. */
  readonly gate?: GateReport;
}

export type RunOutcome =
  | ({ readonly kind: 'ended' } & RunReport)
  /** Another worker has the job, or will take it when the lease runs out. */
  | { readonly kind: 'lost' }
  /** `waitsFor` says why it cannot run now. It is left out if any worker can run the job at once. */
  | { readonly kind: 'handed_back'; readonly waitsFor?: 'disk' | 'adapters' | 'engine' };

/** The job now belongs to another worker. This one drops what it still has. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Throws `LeaseLost` if a write came too late. */
export function assertHeld(write: LeasedWrite): void {
  if (write === 'lost') throw new LeaseLost('the lease has passed to another worker');
}

/** A run that is repeated after a crash draws the same random numbers. */
export function seedOf(jobId: string): number {
  return createHash('sha256').update(jobId).digest().readUInt32LE(0);
}
