import type { JobKind } from '@engraft/contract';
import type { LearningMethod } from '@engraft/learning';
import type { Kysely } from 'kysely';
import { pino } from 'pino';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import { openDatabase } from '../db/database.js';
import type { Database } from '../db/schema.js';
import { claimJob } from '../jobs/claimJob.js';
import { runJob } from '../worker/runJob.js';
import { Gate } from './gate.js';
import { scriptedLearner } from './scriptedLearner.js';

/** A job that a worker has claimed, and that goes on by steps. */
export interface SimulatedRun {
  readonly job_id: string;
  readonly fencing_token: number;
  readonly isOver: boolean;
  /** Resolves when it is over, or waits again. */
  advance(): Promise<void>;
  /** Makes what it waits for fail. */
  fail(error: Error): Promise<void>;
  /** Tells the worker to stop. */
  stop(error: Error): Promise<void>;
}

/** Longer than any history, so that only the test's clock ends a lease. */
const leaseMs = 60_000;

/** The process of a worker: the real way of running jobs, on a scripted model, with connections of its own. */
export class SimulatedWorker {
  readonly #db: Kysely<Database>;
  readonly #runs = new Map<Gate, Promise<void>>();

  constructor(
    readonly name: string,
    databaseUrl: string,
    readonly store: AdapterStore,
    readonly dataFolder: string,
  ) {
    this.#db = openDatabase(databaseUrl, { maxConnections: 4 });
  }

  async claim(kind: JobKind): Promise<SimulatedRun | null> {
    const job = await claimJob(this.#db, { worker_id: this.name, kind, leaseMs });
    if (job === null) return null;
    const gate = new Gate();
    const stopping = new AbortController();
    let isOver = false;
    const done = runJob(this.#contextOf(gate), job, leaseMs, stopping.signal).then(() => {
      isOver = true;
      this.#runs.delete(gate);
    });
    this.#runs.set(gate, done);
    const settle = (): Promise<void> => Promise.race([done, gate.reached()]);
    await settle();
    const go = async (error?: Error): Promise<void> => {
      gate.open(error);
      await settle();
    };
    return {
      job_id: job.job_id,
      fencing_token: job.fencing_token,
      get isOver() {
        return isOver;
      },
      advance: () => go(),
      fail: (error) => go(error),
      stop: (error) => {
        stopping.abort(error);
        return go(error);
      },
    };
  }

  /** Acts like SIGKILL: nothing that the worker does reaches the database any more. */
  async kill(): Promise<void> {
    await this.#db.destroy();
    const killed = new Error('the simulated worker is dead');
    for (const gate of this.#runs.keys()) gate.open(killed);
    await Promise.all(this.#runs.values());
  }

  #contextOf(gate: Gate): Parameters<typeof runJob>[0] {
    let hasStepped = false;
    const { engine, method } = scriptedLearner({
      // Waits at every answer, and at the first step of a training.
      slow: async (call) => {
        if (call === 'step' && hasStepped) return false;
        if (call === 'step') hasStepped = true;
        await gate.pass();
        return false;
      },
      disk_full: () => gate.pass().then(() => false),
      elsewhere: null,
    });
    const store: AdapterStore = {
      ...this.store,
      keep: async (adapter) => {
        await gate.pass();
        await this.store.keep(adapter);
        await gate.pass();
      },
    };
    const { dataFolder } = this;
    const logger = pino({ level: 'silent' });
    return {
      db: this.#db,
      engine,
      method: (): Promise<LearningMethod> => Promise.resolve(method),
      store,
      dataFolder,
      logger,
    };
  }
}
