/** Snapshots of a training under way: when one is taken, where it lies, and what of it is kept for how long. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { EngineError, type TrainingSession } from '@engraft/engine';
import { folderFrom, folderIn } from '../outcomes.js';
import type { LearningNotice, LearningOptions, LearningUsage, ProgressJournal } from '../types.js';
import { foldersOf, progressSchema, withFolders, type TrainingProgress, type TrainingState } from './progress.js';

/** The least training time between two snapshots, and before the first one. */
const pauseMinMs = 5_000;
/** At most this share of the training time is spent on snapshots. */
const costShareMax = 0.02;

/** How long to train after a snapshot that took so long, before the next. */
export function pauseAfterMs(costMs: number): number {
  return Math.max(pauseMinMs, costMs / costShareMax);
}

/**
 * The snapshots of one job's training. A snapshot counts once the journal has it; the one before it is removed then, so
 * that there are two at most. What the journal has is removed by nobody else: a run that goes on from there finds it,
 * even while a run that has lost the job has not noticed yet.
 */
export class Snapshots {
  #plan = '';
  /** What the journal has, with absolute folders. */
  #kept: TrainingProgress | null = null;
  /** Steps of the training that the journal has; 0 when that cannot be used. */
  #keptSteps = 0;
  #pausedSinceMs = 0;
  #pauseMs = pauseMinMs;
  #hasFailed = false;
  readonly #now: () => number;
  readonly #onNotice: (notice: LearningNotice) => void;

  constructor(
    readonly workFolder: string,
    /** Without it no snapshot is taken. */
    readonly journal?: ProgressJournal,
    { now = () => performance.now(), onNotice = () => undefined }: Pick<LearningOptions, 'now' | 'onNotice'> = {},
  ) {
    this.#now = now;
    this.#onNotice = onNotice;
  }

  /** This run's part of the work folder. */
  get folder(): string {
    return path.join(this.workFolder, 'training');
  }

  /** What an earlier run kept of a training with this plan; `null` when there is nothing to go on with. */
  async load(plan: string): Promise<TrainingProgress | null> {
    this.#plan = plan;
    this.#pausedSinceMs = this.#now();
    this.#kept = null;
    this.#keptSteps = 0;
    const stored = (await this.journal?.load()) ?? null;
    if (stored === null) return null;
    const parsed = progressSchema.safeParse(stored);
    if (!parsed.success) return this.refuse(parsed.error);
    this.#kept = withFolders(parsed.data, (folder) => folderIn(this.workFolder, folder));
    if (this.#kept.plan !== plan) return this.refuse(new Error('the training is planned otherwise now'));
    this.#keptSteps = this.#kept.state.report.steps;
    return this.#kept;
  }

  /** What was loaded cannot be used: the training begins anew. */
  refuse(error: unknown): null {
    this.#keptSteps = 0;
    this.#onNotice({ kind: 'progress_unusable', error });
    return null;
  }

  /** How far the training has come cannot be kept; said once. */
  failed(error: unknown): void {
    if (!this.#hasFailed) this.#onNotice({ kind: 'snapshot_failed', error });
    this.#hasFailed = true;
  }

  /** A training goes on with what was loaded. */
  resumed(steps: number): void {
    this.#onNotice({ kind: 'resumed', steps });
  }

  /** Leaves nothing in the folder that nobody reads: of what the training began with, and what was interrupted. */
  async clear(progress: TrainingProgress | null): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const read = progress === null ? [] : foldersOf(progress);
    // The run before this one has left its own, too.
    for (const folder of new Set([this.folder, ...read.slice(0, 1).map((snapshot) => path.dirname(snapshot))])) {
      const names = await readdir(folder).catch(() => []);
      await removeFolders(names.map((name) => path.join(folder, name)).filter((entry) => !read.includes(entry)));
    }
  }

  get isDue(): boolean {
    return this.journal !== undefined && !this.#hasFailed && this.#now() - this.#pausedSinceMs >= this.#pauseMs;
  }

  /**
   * Keeps where the session is now, if it has come further. A snapshot that cannot be written is none, which costs time
   * when the training is interrupted. Rejects when the journal does, or the session is lost.
   */
  async keep(session: TrainingSession, state: TrainingState, usage: LearningUsage): Promise<void> {
    const { journal, workFolder } = this;
    const { steps } = state.report;
    if (journal === undefined || steps <= this.#keptSteps) return;
    const snapshot = path.join(this.folder, `snapshot-${steps}`);
    const startedAtMs = this.#now();
    try {
      await session.snapshot(snapshot);
    } catch (error) {
      if (!isAtFault(error)) throw error;
      this.failed(error);
      return;
    }
    this.#pausedSinceMs = this.#now();
    this.#pauseMs = pauseAfterMs(this.#pausedSinceMs - startedAtMs);
    const progress = { plan: this.#plan, snapshot, usage, state };
    await journal.store(
      withFolders(progress, (folder) => folderFrom(workFolder, folder)),
      steps,
    );
    const before = this.#kept;
    this.#kept = progress;
    this.#keptSteps = steps;
    if (before !== null)
      await removeFolders(foldersOf(before).filter((folder) => !foldersOf(progress).includes(folder)));
  }

  /** The training has no use for the adapter any more; whoever goes on from the last snapshot may have. */
  async dropAdapter(folder: string): Promise<void> {
    if (this.#kept === null || !foldersOf(this.#kept).includes(folder)) await removeFolders([folder]);
  }

  /** The training has ended with this adapter, and its outcome is stored: nobody goes on from a snapshot any more. */
  async end(adapterFolder: string): Promise<void> {
    if (this.#kept !== null) await removeFolders(foldersOf(this.#kept).filter((folder) => folder !== adapterFolder));
    this.#kept = null;
  }
}

/** Whether it is the snapshot that the engine cannot write or read, and not the engine's process that is gone. */
export function isAtFault(error: unknown): boolean {
  return (
    error instanceof EngineError && !error.repeatable && error.code !== 'cancelled' && error.code !== 'not_running'
  );
}

/** What cannot be removed stays until the job has ended, when its work folder goes. */
async function removeFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}
