/** Snapshots of a training under way: when they are taken, where they lie, and how long they are kept. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { EngineError, type TrainingSession } from '@engraft/engine';
import { folderFrom, folderIn } from '../outcomes.js';
import type { LearningNotice, LearningOptions, LearningUsage, ProgressJournal } from '../types.js';
import { foldersOf, progressSchema, withFolders, type TrainingProgress, type TrainingState } from './progress.js';

/** The least time between two snapshots, and before the first one. */
const minPauseMs = 5_000;
/** The largest share of the training time that snapshots may take. */
const maxCostShare = 0.02;

/** How long to train before the next snapshot, after one that took this long. */
export function pauseAfterMs(costMs: number): number {
  return Math.max(minPauseMs, costMs / maxCostShare);
}

/**
 * The snapshots of one job's training.
 * A snapshot counts once the journal has it. Then the one before it is removed, so there are two at most. Nobody else
 * removes what the journal has: a run that goes on from there finds it, even while a run that has lost the job has not
 * noticed yet.
 */
export class Snapshots {
  #plan = '';
  /** The journal's entry, with absolute folders. */
  #kept: TrainingProgress | null = null;
  /** The training steps that the journal has, or 0 if they cannot be used. */
  #keptSteps = 0;
  #pausedSinceMs = 0;
  #pauseMs = minPauseMs;
  #hasFailed = false;
  readonly #now: () => number;
  readonly #onNotice: (notice: LearningNotice) => void;

  constructor(
    readonly workFolder: string,
    /** Without a journal, no snapshot is taken. */
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

  /** Returns what an earlier run kept of a training with this plan, or `null` if there is nothing to go on from. */
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

  /** The stored progress cannot be used, so the training begins anew. */
  refuse(error: unknown): null {
    this.#keptSteps = 0;
    this.#onNotice({ kind: 'progress_unusable', error });
    return null;
  }

  /** Progress cannot be kept. This is said once. */
  failed(error: unknown): void {
    if (!this.#hasFailed) this.#onNotice({ kind: 'snapshot_failed', error });
    this.#hasFailed = true;
  }

  /** The training goes on from the stored progress. */
  resumed(steps: number): void {
    this.#onNotice({ kind: 'resumed', steps });
  }

  /**
   * Removes everything from the folder that nobody reads any more: what the training began with, and what was
   * interrupted.
   */
  async clear(progress: TrainingProgress | null): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const read = progress === null ? [] : foldersOf(progress);
    // The run before this one left its own folder, too.
    for (const folder of new Set([this.folder, ...read.slice(0, 1).map((snapshot) => path.dirname(snapshot))])) {
      const names = await readdir(folder).catch(() => []);
      await removeFolders(names.map((name) => path.join(folder, name)).filter((entry) => !read.includes(entry)));
    }
  }

  get isDue(): boolean {
    return this.journal !== undefined && !this.#hasFailed && this.#now() - this.#pausedSinceMs >= this.#pauseMs;
  }

  /**
   * Keeps the current state, if the training has come further. A snapshot that cannot be written costs only time, if
   * the training is interrupted. Rejects if the journal does or the session is lost.
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

  /** The training no longer needs the adapter. A run that goes on from the last snapshot may. */
  async dropAdapter(folder: string): Promise<void> {
    if (this.#kept === null || !foldersOf(this.#kept).includes(folder)) await removeFolders([folder]);
  }

  /** The training has ended with this adapter, and its outcome is stored. Nobody goes on from a snapshot any more. */
  async end(adapterFolder: string): Promise<void> {
    if (this.#kept !== null) await removeFolders(foldersOf(this.#kept).filter((folder) => folder !== adapterFolder));
    this.#kept = null;
  }
}

/** Whether the engine cannot write or read the snapshot, rather than its process being gone. */
export function isAtFault(error: unknown): boolean {
  return (
    error instanceof EngineError && !error.repeatable && error.code !== 'cancelled' && error.code !== 'not_running'
  );
}

/** A folder that cannot be removed stays until the job has ended and its work folder goes. */
async function removeFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}
