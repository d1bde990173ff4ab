import assert from 'node:assert/strict';
import type { ProjectAmount, WorldState } from '@engraft/service/testing/worldState.js';

type JobRow = WorldState['jobs'][number];

/** A request that was admitted, by its project, tenant and idempotency key. */
export interface Admitted {
  readonly job_id: string;
  /** The request behind it: another wish under the same key is a conflict. */
  readonly wish: string;
}

const endings = new Set(['succeeded', 'ready', 'rejected', 'failed']);
const next: Readonly<Record<string, readonly string[]>> = {
  // A run that is claimed may be over before it first waits.
  queued: ['queued', 'running', 'failed'],
  running: ['running', 'queued', 'succeeded', 'ready', 'rejected', 'failed', 'reconciliation_required'],
  reconciliation_required: ['reconciliation_required', 'failed'],
};

/** All that must be true, kept small: what clients, operators and workers were told, and what follows. */
export class Model {
  readonly admitted = new Map<string, Admitted>();
  readonly expired = new Set<string>();
  /** Jobs. */
  readonly refunded = new Set<string>();
  readonly granted_microusd = new Map<string, number>();
  readonly #ended = new Map<string, string>();

  grant(projectId: string, amountMicrousd: number): void {
    this.granted_microusd.set(projectId, (this.granted_microusd.get(projectId) ?? 0) + amountMicrousd);
  }

  /** Checks one step: the state before it and the state after it. */
  checkStep(before: WorldState, after: WorldState): void {
    this.#checkJobs(before, after);
    this.#checkMoney(after);
    this.#checkVersions(before, after);
  }

  #checkJobs(before: WorldState, after: WorldState): void {
    const earlier = new Map(before.jobs.map((job) => [job.id, job]));
    const receipts = new Set([...this.admitted.values()].map(({ job_id }) => job_id));
    for (const job of after.jobs) {
      assert.ok(receipts.has(job.id), `job ${job.id} was admitted without a receipt`);
      const was = earlier.get(job.id);
      if (was !== undefined) checkTransition(was, job);
      const ended = endings.has(job.status);
      assert.equal(job.settled, ended, `job ${job.id} is ${job.status}`);
      assert.ok(job.charged_microusd <= job.reserved_microusd);
      if (!ended) assert.equal(job.charged_microusd, 0);
      else this.#checkEnded(job);
    }
    for (const id of receipts)
      assert.ok(
        after.jobs.some((job) => job.id === id),
        `the job of receipt ${id} is lost`,
      );
  }

  /** "Charged at most once": what has ended never changes again. */
  #checkEnded(job: JobRow): void {
    const now = JSON.stringify(job);
    assert.equal(now, this.#ended.get(job.id) ?? now, `job ${job.id} has changed after its end`);
    this.#ended.set(job.id, now);
  }

  /**
   * Every micro-USD that was granted is available, reserved by an open job, or spent on a job or on hosting and not
   * refunded.
   */
  #checkMoney({ jobs, accounts, hosting, refunds }: WorldState): void {
    for (const [projectId, grantedMicrousd] of this.granted_microusd) {
      const own = jobs.filter((job) => job.project_id === projectId);
      const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);
      const reserved = sum(own.filter(({ settled }) => !settled).map(({ reserved_microusd }) => reserved_microusd));
      const sumOf = (amounts: readonly ProjectAmount[]): number =>
        sum(amounts.filter(({ project_id }) => project_id === projectId).map(({ amount_microusd }) => amount_microusd));
      const spent = sumOf(hosting) - sumOf(refunds) + sum(own.map(({ charged_microusd }) => charged_microusd));
      const balances = Object.fromEntries(
        accounts
          .filter((account) => account.project_id === projectId)
          .map(({ kind, balance_microusd }) => [kind, balance_microusd]),
      );
      assert.deepEqual(balances, { available: grantedMicrousd - reserved - spent, reserved, spent });
    }
  }

  #checkVersions(before: WorldState, after: WorldState): void {
    for (const { id, source_job_id, retention_ended_by } of after.versions) {
      assert.equal(after.jobs.find((job) => job.id === source_job_id)?.status, 'ready');
      if (this.expired.has(id)) assert.equal(retention_ended_by, 'operator', `version ${id} has come back`);
    }
    assert.ok(before.versions.every(({ id }) => after.versions.some((version) => version.id === id)));
    for (const subject of after.subjects) {
      const was = before.subjects.find(({ id }) => id === subject.id);
      const moved = subject.revision - (was?.revision ?? 0);
      assert.ok(moved >= 0, 'a revision has gone back');
      if (moved === 0) assert.equal(subject.active_version_id, was?.active_version_id ?? null);
      if (subject.active_version_id === null) continue;
      const active = after.versions.find(({ id }) => id === subject.active_version_id);
      assert.equal(active?.subject_ref, subject.id, 'a subject uses the version of another');
    }
  }
}

function checkTransition(was: JobRow, job: JobRow): void {
  if (endings.has(was.status)) return;
  assert.ok(next[was.status]?.includes(job.status), `job ${job.id} went from ${was.status} to ${job.status}`);
  assert.ok([0, 1].includes(job.fencing_token - was.fencing_token), 'a step claims a job once');
  assert.equal(job.reserved_microusd, was.reserved_microusd);
}
