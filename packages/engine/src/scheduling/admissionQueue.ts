import { maxConcurrentLoads, type AdapterSource } from '../adapters/adapterCache.js';
import { adapterBytes, type LoadedAdapter } from '../adapters/loadedAdapter.js';
import { sum } from '../support/numbers.js';
import type { Sequence } from './sequence.js';

/**
 * The longest time that running answers wait for the adapter of the first in the queue. Without this wait each answer
 * would run alone until the next adapter is loaded, and batches would stay small.
 */
const maxLoadWaitMs = 20;

/** The adapter of one sequence on its way into memory. */
interface Loading {
  readonly sequence: Sequence;
  readonly ended: Promise<void>;
  /** Set after a wait in vain. A file on a slow disk must not hold up the others. */
  isSlow: boolean;
}

/**
 * Sequences that wait for their turn, and the loading of their adapters, both in the order of arrival. A sequence whose
 * adapter loads slowly keeps its place. Until it is ready, sequences behind it that are ready begin first.
 */
export class AdmissionQueue {
  private queue: Sequence[] = [];
  private loadings: readonly Loading[] = [];
  /** Size of the largest adapter loaded so far. Before the first, nothing is known. */
  private largestBytes = Infinity;
  private hasChanged = false;
  private wake = (): void => undefined;

  constructor(
    private readonly adapters: AdapterSource,
    /** The sequences that have begun. */
    private readonly started: () => readonly Sequence[],
  ) {}

  get length(): number {
    return this.queue.length;
  }

  /** The next to begin. Its adapter may still be loading. */
  get next(): Sequence | undefined {
    const [first] = this.queue;
    return first !== undefined && this.loadingOf(first)?.isSlow === true
      ? this.queue.find(({ adapter }) => adapter !== undefined)
      : first;
  }

  add(sequence: Sequence): void {
    // An adapter in memory needs no turn at loading, which may be held up.
    const { adapter } = sequence.job;
    if (adapter !== null && this.heldBytes() < this.adapters.maxBytes) {
      sequence.adapter = this.adapters.holdKept(adapter);
    }
    this.queue.push(sequence);
    this.startLoads();
    this.notify();
  }

  /** Takes a sequence that is about to begin out of the queue. */
  dequeue(sequence: Sequence): void {
    this.queue = this.queue.filter((each) => each !== sequence);
  }

  /** Removes every sequence that `leaves` accepts. A load for one of them keeps nobody else from loading. */
  remove(leaves: (sequence: Sequence) => boolean): readonly Sequence[] {
    const leaving = this.queue.filter(leaves);
    if (leaving.length === 0) return leaving;
    this.queue = this.queue.filter((sequence) => !leaves(sequence));
    this.loadings = this.loadings.filter(({ sequence }) => !leaving.includes(sequence));
    this.startLoads();
    this.notify();
    return leaving;
  }

  /**
   * Loads the adapters of waiting sequences in their order, beside the computation: early, because the files may be
   * gone later, but only as far as memory allows.
   */
  startLoads(): void {
    while (this.loadings.length < maxConcurrentLoads) {
      const next = this.queue.find((each) => each.adapter === undefined && this.loadingOf(each) === undefined);
      if (next === undefined) return;
      if (next !== this.queue[0] && this.expectedBytes() >= this.adapters.maxBytes) return;
      this.startLoad(next);
    }
  }

  private startLoad(next: Sequence): void {
    const ended = this.load(next).finally(() => {
      this.loadings = this.loadings.filter(({ sequence }) => sequence !== next);
      this.startLoads();
      this.notify();
    });
    this.loadings = [...this.loadings, { sequence: next, ended, isSlow: false }];
  }

  private async load(next: Sequence): Promise<void> {
    const { adapter: reference } = next.job;
    let adapter: LoadedAdapter | null;
    try {
      adapter = reference && (await this.adapters.hold(reference));
    } catch (error) {
      this.remove((sequence) => sequence === next);
      next.reject(error);
      return;
    }
    if (!this.queue.includes(next)) {
      // It left the queue during the load, so nobody else gives the adapter back.
      if (adapter !== null) this.adapters.release(adapter);
      return;
    }
    next.adapter = adapter;
    if (adapter !== null) this.recordSize(adapterBytes(adapter));
  }

  private recordSize(bytes: number): void {
    this.largestBytes = this.largestBytes === Infinity ? bytes : Math.max(this.largestBytes, bytes);
  }

  private loadingOf(sequence: Sequence): Loading | undefined {
    return this.loadings.find((loading) => loading.sequence === sequence);
  }

  /** Resolves when a sequence has come or left, or an adapter has been loaded, since it last resolved. */
  async nextChange(): Promise<void> {
    if (!this.hasChanged) await new Promise<void>((resolve) => (this.wake = resolve));
    this.hasChanged = false;
  }

  /** Waits for the adapter of the first in the queue, but not for long, and not at all for one known to be slow. */
  async waitForFirstLoad(): Promise<void> {
    const [first] = this.queue;
    const loading = first && this.loadingOf(first);
    if (loading === undefined || loading.isSlow) return;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        loading.isSlow = true;
        resolve();
      }, maxLoadWaitMs);
    });
    await Promise.race([loading.ended, timeout]);
    clearTimeout(timer);
  }

  /** Lets `nextChange` resolve. */
  private notify(): void {
    this.hasChanged = true;
    this.wake();
  }

  /** Size of the adapters of all sequences that wait or have begun. Each adapter counts once. */
  private heldBytes(): number {
    const held = new Set([...this.queue, ...this.started()].flatMap(({ adapter }) => adapter ?? []));
    return sum([...held].map(adapterBytes));
  }

  /** `heldBytes` and the adapters being loaded, each of which may be as large as the largest so far. */
  private expectedBytes(): number {
    return this.loadings.reduce((sum) => sum + this.largestBytes, this.heldBytes());
  }
}
