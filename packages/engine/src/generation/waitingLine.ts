import { adapterBytes } from './loadedAdapter.js';
import type { Sequence } from './sequence.js';

/**
 * How long running answers wait at most for the adapter of the next in line: with each decoding alone until the next is
 * loaded, batches would stay small for as long as adapters are to be loaded.
 */
const LOADING_TURN_MS = 20;

/** Sequences that wait for their turn in the order of their arrival, and the loading of their adapters, in that order too. */
export class WaitingLine {
  private line: Sequence[] = [];
  private loading: Promise<void> | undefined;
  /** What has been waited for in vain: the file of a slow disk, which must not hold up the others again. */
  private slowLoading: Promise<void> | undefined;

  constructor(
    /** Sequences that have begun. */
    private readonly begun: () => readonly Sequence[],
    /** Bound on the adapters of all that wait and have begun; the first in line gets its own all the same. */
    private readonly maxAdapterBytes: number,
  ) {}

  get length(): number {
    return this.line.length;
  }

  /** The next to begin. */
  get first(): Sequence | undefined {
    return this.line[0];
  }

  add(sequence: Sequence): void {
    this.line.push(sequence);
    this.loadNext();
  }

  takeFirst(): Sequence | undefined {
    return this.line.shift();
  }

  /** Takes those out of the line that `leaves` holds for. */
  remove(leaves: (sequence: Sequence) => boolean): readonly Sequence[] {
    const leaving = this.line.filter(leaves);
    if (leaving.length > 0) this.line = this.line.filter((sequence) => !leaves(sequence));
    return leaving;
  }

  /**
   * Loads adapters of those that wait, one after the other beside what is being computed: early, because their files may
   * be gone later, but no more than memory is there for.
   */
  loadNext(): void {
    const next = this.line.find(({ adapter }) => adapter === undefined);
    if (next === undefined || this.loading !== undefined) return;
    if (next !== this.first && this.heldBytes() >= this.maxAdapterBytes) return;
    const load = async (): Promise<void> => {
      try {
        next.adapter = (await next.job.adapter?.load()) ?? null;
      } catch (error) {
        this.remove((sequence) => sequence === next);
        next.reject(error);
      }
    };
    this.loading = load().finally(() => {
      this.loading = undefined;
      this.loadNext();
    });
  }

  /** Ends when the adapter that is being loaded is there, or nowhere. */
  async loaded(): Promise<void> {
    await this.loading;
  }

  /** As `loaded`, but with little patience, and only where the first in line waits for nothing else. */
  async giveTurnToLoading(): Promise<void> {
    const { loading, first } = this;
    if (first === undefined || first.adapter !== undefined || loading === undefined || loading === this.slowLoading)
      return;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.slowLoading = loading;
        resolve();
      }, LOADING_TURN_MS);
    });
    await Promise.race([loading, patience]);
    clearTimeout(timer);
  }

  /** Of the adapters of all that wait or have begun, each counted once. */
  private heldBytes(): number {
    const held = new Set([...this.line, ...this.begun()].flatMap(({ adapter }) => adapter ?? []));
    return [...held].reduce((sum, adapter) => sum + adapterBytes(adapter), 0);
  }
}
