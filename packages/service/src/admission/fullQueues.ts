import { setTimeout as delay } from 'node:timers/promises';
import type { AdmissionRefusal } from './admitJob.js';

export type FullQueue = Extract<AdmissionRefusal, 'project_queue_full' | 'service_queue_full'>;

/** How long a queue counts as full before it is looked at again. Few jobs end in this time. */
const rememberedMs = 100;

/** While a queue is full, requests of one key wait so long for others, to be authenticated and counted with them. */
const sharedMs = 20;

const codes: readonly FullQueue[] = ['project_queue_full', 'service_queue_full'];

/**
 * Remembers which queues this process found full. Far beyond what a service can do, most requests are refused, and each
 * of them would take a transaction from the others. So one request looks again after a while, and the others are
 * refused until it has found room. It is only for requests that cannot be replays, since a replay is answered however
 * full the queue is.
 */
export class FullQueues {
  readonly #fullUntilMs = new Map<string, number>();
  #anyUntilMs = -Infinity;

  /** @param nowMs monotonic */
  constructor(readonly nowMs: () => number) {}

  found(code: FullQueue, projectId: string): void {
    this.#remember(nameOf(code, projectId));
  }

  /** A request got past both queues, whatever became of it then. */
  foundRoom(projectId: string): void {
    for (const code of codes) this.#fullUntilMs.delete(nameOf(code, projectId));
  }

  /** `null` if the caller has to look, and then to say what it found. */
  find(projectId: string): FullQueue | null {
    const known = codes.filter((code) => this.#isKnown(nameOf(code, projectId)));
    const full = known.find((code) => this.#untilMs(nameOf(code, projectId)) > this.nowMs());
    if (full !== undefined) return full;
    // The caller looks. Should it find nothing out, another one looks after the same while.
    for (const code of known) this.#remember(nameOf(code, projectId));
    return null;
  }

  /** More requests wait than a queue may have, whatever it has now. */
  sawMany(): void {
    this.#anyUntilMs = this.nowMs() + rememberedMs;
  }

  /** Whether any queue was just found full, or will be. */
  isAnyFull(): boolean {
    return this.nowMs() < this.#anyUntilMs;
  }

  /** See `inBatches`. */
  async pause(): Promise<void> {
    if (this.isAnyFull()) await delay(sharedMs);
  }

  /** An old finding says nothing. It would refuse a request that comes beside the first one after a quiet hour. */
  #isKnown(name: string): boolean {
    const isFresh = this.#untilMs(name) + rememberedMs > this.nowMs();
    if (!isFresh) this.#fullUntilMs.delete(name);
    return isFresh;
  }

  #untilMs(name: string): number {
    return this.#fullUntilMs.get(name) ?? -Infinity;
  }

  #remember(name: string): void {
    this.sawMany();
    this.#fullUntilMs.set(name, this.#anyUntilMs);
  }
}

function nameOf(code: FullQueue, projectId: string): string {
  return code === 'service_queue_full' ? code : projectId;
}
