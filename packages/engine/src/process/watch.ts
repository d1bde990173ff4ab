import type { EnginePurpose } from './protocol.js';
import { beatCodes } from './heartbeat.js';

/** Bounds on the time in which an engine may behave like a hung one. Only time in which the host itself ran counts. */
export interface WatchBounds {
  /**
   * The longest time without a heartbeat. By default 15 s. After a third of that the engine counts as unresponsive. A
   * process that starts or trains has four times as long.
   */
  readonly silenceMs: number;
  /**
   * The longest time with calls to answer or a model to load, but without the end of a run and without processor time.
   * By default 5 minutes.
   */
  readonly idleMs: number;
  /**
   * The longest time of computing without the end of a run. By default an hour. The longest run scores one whole
   * sequence: 8,000 tokens of a model of 7 billion parameters take 40 minutes at 50 GFLOP/s.
   */
  readonly runMs: number;
}

export const defaultBounds: WatchBounds = { silenceMs: 15_000, idleMs: 300_000, runMs: 3_600_000 };

/** Why a process is killed: it gives no sign of life, or it does but its calls make no progress. */
export type Hang = 'unresponsive' | 'stalled';

/** The work that an engine has at the moment. */
export type Work = 'load' | 'calls' | 'none';

const beatsPerSilence = 15;
/** A longer time between two ticks is the host's own fault: it was suspended or overloaded. */
const maxIntervalsPerTick = 2;
/**
 * For a process whose heartbeat thread has yet to start, or that gives way to all others. A busy machine may starve it.
 */
const slowProcessFactor = 4;

/**
 * Adds up the time in which an engine process gives no sign of life or makes no progress. Time in which the host did
 * not run either, as on a laptop that slept, does not count. The beats of that time are read only after the tick.
 */
export class Watch {
  private silentMs = 0;
  private idleMs = 0;
  private runMs = 0;
  private heard = false;

  constructor(
    private readonly bounds: WatchBounds,
    private readonly purpose: EnginePurpose,
  ) {}

  /** The time between two beats, and between two ticks. */
  get intervalMs(): number {
    return this.bounds.silenceMs / beatsPerSilence;
  }

  /** Call it at every interval. @param elapsedMs since the last tick, by a monotonic clock. */
  tick(elapsedMs: number, work: Work): void {
    const countedMs = Math.min(elapsedMs, maxIntervalsPerTick * this.intervalMs);
    this.silentMs += countedMs;
    this.idleMs = work === 'none' ? 0 : this.idleMs + countedMs;
    // Nothing marks progress while a model is loaded, and loading takes as long as the disk does.
    this.runMs = work === 'calls' ? this.runMs + countedMs : 0;
  }

  /** Takes in one or several beats from the pipe. */
  hear(beats: string): void {
    this.heard = true;
    this.silentMs = 0;
    const progressed = beats.includes(beatCodes.progressed);
    if (progressed || beats.includes(beatCodes.computed)) this.idleMs = 0;
    if (progressed) this.runMs = 0;
  }

  /** A call was answered, which is a sign of life, too: the thread that beats may get no processor time for a while. */
  answered(): void {
    this.silentMs = 0;
    this.idleMs = 0;
    this.runMs = 0;
  }

  get responsive(): boolean {
    return this.silentMs < this.bounds.silenceMs / 3;
  }

  /** Why the process should be killed; null if nothing is wrong. */
  get hang(): Hang | null {
    const { silenceMs, idleMs, runMs } = this.bounds;
    const patience = this.heard && this.purpose === 'serving' ? 1 : slowProcessFactor;
    if (this.silentMs >= patience * silenceMs) return 'unresponsive';
    return this.idleMs >= idleMs || this.runMs >= runMs ? 'stalled' : null;
  }
}
