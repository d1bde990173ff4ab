import type { AdmissionRefusal } from './admitJob.js';

type FullQueue = Extract<AdmissionRefusal, 'project_queue_full' | 'service_queue_full'>;

/** How long a queue that was found full counts as full. Few jobs end meanwhile. */
const remembered_ms = 100;

/**
 * Which queues this process found full a moment ago. Far beyond what a service can do, most requests are refused; each
 * of them would take a transaction from those that are not. Only for requests that can be no replay: a replay is
 * answered however full the queue is.
 */
export class FullQueues {
  readonly #full_until_ms = new Map<string, number>();

  /** @param now_ms monotonic */
  constructor(readonly now_ms: () => number) {}

  found(code: FullQueue, project_id: string): void {
    this.#full_until_ms.set(nameOf(code, project_id), this.now_ms() + remembered_ms);
  }

  /** `null`: nothing is known of it, and it has to be looked at. */
  find(project_id: string): FullQueue | null {
    const codes: readonly FullQueue[] = ['project_queue_full', 'service_queue_full'];
    return codes.find((code) => this.#isFull(nameOf(code, project_id))) ?? null;
  }

  #isFull(name: string): boolean {
    const until_ms = this.#full_until_ms.get(name);
    if (until_ms === undefined) return false;
    if (until_ms > this.now_ms()) return true;
    this.#full_until_ms.delete(name);
    return false;
  }
}

function nameOf(code: FullQueue, project_id: string): string {
  return code === 'service_queue_full' ? code : project_id;
}
