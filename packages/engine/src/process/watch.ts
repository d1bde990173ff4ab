import type { EnginePurpose } from './protocol.js';
import { beatCodes } from './heartbeat.js';

/** How long an engine may behave as a hung one does, in milliseconds in which the host itself ran. */
export interface WatchBounds {
  /**
   * It sends no heartbeat; by default 15 s. After a third of it the engine counts as one that does not respond. A
   * process that starts or trains has four times as long.
   */
  readonly silenceMs: number;
  /** It has calls to answer or a model to load, ends no run and uses no processor time; by default 5 minutes. */
  readonly idleMs: number;
  /**
   * It computes for its calls, but ends no run; by default an hour. The longest run scores one whole sequence: 8,000
   * tokens of a model of 7 billion parameters take 40 minutes at 50 GFLOP/s.
   */
  readonly runMs: number;
}

export const defaultBounds: WatchBounds = { silenceMs: 15_000, idleMs: 300_000, runMs: 3_600_000 };

/** What a process is killed for: it gives no sign of life; or it does, but its calls get nowhere. */
export type Hang = 'unresponsive' | 'stalled';

/** What an engine is to do. */
export type Work = 'load' | 'calls' | 'none';

const beatsPerSilence = 15;
/** A longer time between two ticks is the host's own fault: it was suspended, or has too much to do. */
const maxIntervalsPerTick = 2;
/** For a process whose thread is still to start, or that gives way to all others: a busy machine may starve it. */
const slowProcessFactor = 4;

/**
 * Adds up the time in which an engine process gives no sign of life, or gets nowhere. Time in which the host did not
 * run either, as on a laptop that slept, does not count: beats that came meanwhile are read only after the tick.
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

  /** Time between two beats, and between two ticks. */
  get intervalMs(): number {
    return this.bounds.silenceMs / beatsPerSilence;
  }

  /** To be called at every interval. @param elapsedMs since the last tick, by a clock that never goes back. */
  tick(elapsedMs: number, work: Work): void {
    const countedMs = Math.min(elapsedMs, maxIntervalsPerTick * this.intervalMs);
    this.silentMs += countedMs;
    this.idleMs = work === 'none' ? 0 : this.idleMs + countedMs;
    // Nothing marks progress while a model is loaded, which takes as long as its disk.
    this.runMs = work === 'calls' ? this.runMs + countedMs : 0;
  }

  /** Takes in what came through the pipe: one beat or several. */
  hear(beats: string): void {
    this.heard = true;
    this.silentMs = 0;
    const progressed = beats.includes(beatCodes.progressed);
    if (progressed || beats.includes(beatCodes.computed)) this.idleMs = 0;
    if (progressed) this.runMs = 0;
  }

  /** A call was answered. */
  answered(): void {
    this.idleMs = 0;
    this.runMs = 0;
  }

  get responsive(): boolean {
    return this.silentMs < this.bounds.silenceMs / 3;
  }

  /** What the process is to be killed for; null when nothing is wrong. */
  get hang(): Hang | null {
    const { silenceMs, idleMs, runMs } = this.bounds;
    const patience = this.heard && this.purpose === 'serving' ? 1 : slowProcessFactor;
    if (this.silentMs >= patience * silenceMs) return 'unresponsive';
    return this.idleMs >= idleMs || this.runMs >= runMs ? 'stalled' : null;
  }
}
