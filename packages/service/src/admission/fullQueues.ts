import type { AdmissionRefusal } from './admitJob.js';

type FullQueue = Extract<AdmissionRefusal, 'project_queue_full' | 'service_queue_full'>;

/** How long a queue counts as full after it was found full. Few jobs end in this time. */
const rememberedMs = 100;

/**
 * Remembers which queues this process just found full. Far beyond what a service can do, most requests are refused, and
 * each of them would take a transaction from the others. It is only for requests that cannot be replays, since a replay
 * is answered however full the queue is.
 */
export class FullQueues {
  readonly #fullUntilMs = new Map<string, number>();

  /** @param nowMs monotonic */
  constructor(readonly nowMs: () => number) {}

  found(code: FullQueue, projectId: string): void {
    this.#fullUntilMs.set(nameOf(code, projectId), this.nowMs() + rememberedMs);
  }

  /** `null` if nothing is known about it, so that it has to be looked at. */
  find(projectId: string): FullQueue | null {
    const codes: readonly FullQueue[] = ['project_queue_full', 'service_queue_full'];
    return codes.find((code) => this.#isFull(nameOf(code, projectId))) ?? null;
  }

  #isFull(name: string): boolean {
    const untilMs = this.#fullUntilMs.get(name);
    if (untilMs === undefined) return false;
    if (untilMs > this.nowMs()) return true;
    this.#fullUntilMs.delete(name);
    return false;
  }
}

function nameOf(code: FullQueue, projectId: string): string {
  return code === 'service_queue_full' ? code : projectId;
}
