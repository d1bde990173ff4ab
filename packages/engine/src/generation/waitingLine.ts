import { adapterBytes } from './loadedAdapter.js';
import type { Sequence } from './sequence.js';

/**
 * How long running answers wait at most for the adapter of the next in line: with each decoding alone until the next is
 * loaded, batches would stay small for as long as adapters are to be loaded.
 */
const LOADING_TURN_MS = 20;

/** Half of the time that an adapter takes to load its thread waits for the disk. */
export const LOADING_AT_ONCE = 2;

/** The adapter of one sequence on its way into memory. */
interface Loading {
  readonly sequence: Sequence;
  readonly ended: Promise<void>;
  /** It has been waited for in vain: the file of a slow disk, which must not hold up the others. */
  isSlow: boolean;
}

/**
 * Sequences that wait for their turn in the order of their arrival, and the loading of their adapters, in that order
 * too. One that is slow to load keeps its place, and those who are ready begin before it until it is ready too.
 */
export class WaitingLine {
  private line: Sequence[] = [];
  private loadings: readonly Loading[] = [];
  /** Size of the largest adapter loaded so far; nothing is known before the first. */
  private largestBytes = Infinity;
  private hasChanged = false;
  private wake = (): void => undefined;

  constructor(
    /** Sequences that have begun. */
    private readonly begun: () => readonly Sequence[],
    /** Bound on the adapters of all that wait and have begun; the first in line gets its own all the same. */
    private readonly maxAdapterBytes: number,
  ) {}

  get length(): number {
    return this.line.length;
  }

  /** The next to begin, perhaps when its adapter is there. */
  get next(): Sequence | undefined {
    const [first] = this.line;
    return first !== undefined && this.loadingOf(first)?.isSlow === true
      ? this.line.find(({ adapter }) => adapter !== undefined)
      : first;
  }

  add(sequence: Sequence): void {
    // What is in memory needs no turn at loading, which may be held up.
    if (sequence.adapter === undefined && this.heldBytes() < this.maxAdapterBytes) {
      sequence.adapter = sequence.job.adapter?.inMemory?.();
    }
    this.line.push(sequence);
    this.loadNext();
    this.notify();
  }

  /** Takes out of the line what is to begin. */
  take(sequence: Sequence): void {
    this.line = this.line.filter((each) => each !== sequence);
  }

  /**
   * Takes those out of the line that `leaves` holds for. What is being loaded for them keeps nobody else from loading.
   */
  remove(leaves: (sequence: Sequence) => boolean): readonly Sequence[] {
    const leaving = this.line.filter(leaves);
    if (leaving.length === 0) return leaving;
    this.line = this.line.filter((sequence) => !leaves(sequence));
    this.loadings = this.loadings.filter(({ sequence }) => !leaving.includes(sequence));
    this.loadNext();
    this.notify();
    return leaving;
  }

  /**
   * Loads adapters of those that wait, in their order beside what is being computed: early, because their files may
   * be gone later, but no more than memory is there for.
   */
  loadNext(): void {
    while (this.loadings.length < LOADING_AT_ONCE) {
      const next = this.line.find((each) => each.adapter === undefined && this.loadingOf(each) === undefined);
      if (next === undefined) return;
      if (next !== this.line[0] && this.expectedBytes() >= this.maxAdapterBytes) return;
      this.load(next);
    }
  }

  private load(next: Sequence): void {
    const load = async (): Promise<void> => {
      try {
        next.adapter = (await next.job.adapter?.load()) ?? null;
        if (next.adapter !== null) this.noteSize(adapterBytes(next.adapter));
      } catch (error) {
        this.remove((sequence) => sequence === next);
        next.reject(error);
      }
    };
    const ended = load().finally(() => {
      this.loadings = this.loadings.filter(({ sequence }) => sequence !== next);
      this.loadNext();
      this.notify();
    });
    this.loadings = [...this.loadings, { sequence: next, ended, isSlow: false }];
  }

  private noteSize(bytes: number): void {
    this.largestBytes = this.largestBytes === Infinity ? bytes : Math.max(this.largestBytes, bytes);
  }

  private loadingOf(sequence: Sequence): Loading | undefined {
    return this.loadings.find((loading) => loading.sequence === sequence);
  }

  /** Ends when somebody has come or left, or an adapter has been loaded, since it ended last. */
  async change(): Promise<void> {
    if (!this.hasChanged) await new Promise<void>((resolve) => (this.wake = resolve));
    this.hasChanged = false;
  }

  /**
   * Ends when the adapter of the first in line is there or nowhere, but has little patience, and none for a slow one.
   */
  async giveTurnToLoading(): Promise<void> {
    const [first] = this.line;
    const loading = first && this.loadingOf(first);
    if (loading === undefined || loading.isSlow) return;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        loading.isSlow = true;
        resolve();
      }, LOADING_TURN_MS);
    });
    await Promise.race([loading.ended, patience]);
    clearTimeout(timer);
  }

  /** Lets `change` end. */
  private notify(): void {
    this.hasChanged = true;
    this.wake();
  }

  /** Size of the adapters of all that wait or have begun, each adapter counted once. */
  private heldBytes(): number {
    const held = new Set([...this.line, ...this.begun()].flatMap(({ adapter }) => adapter ?? []));
    return [...held].reduce((sum, adapter) => sum + adapterBytes(adapter), 0);
  }

  /** `heldBytes`, and the adapters being loaded, each of which may be as large as any before. */
  private expectedBytes(): number {
    return this.loadings.reduce((sum) => sum + this.largestBytes, this.heldBytes());
  }
}
