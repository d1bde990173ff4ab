import type { TokenUsage } from '@engraft/contract';
import { addTokens, fewerTokens, moreTokens, noTokens, subtractTokens } from './tokenCounts.js';

/** The state at the start of a claim. */
export interface ClaimStart {
  /** The usage that the job shows: that of its finished phases. */
  readonly usage: TokenUsage;
  /** The usage of a training that goes on from its snapshot. */
  readonly kept: TokenUsage;
  /** The claim before this one never reported its end. */
  readonly taken_over: boolean;
}

/** How a claim ends, as far as its work is concerned. `lost` means that another claim has the job. */
export type WorkEnd = 'charged' | 'waived' | 'handed_back' | 'lost';

export interface WorkReport {
  readonly charged: TokenUsage;
  /** Done for nothing, as the job failed through no fault of its own. */
  readonly waived: TokenUsage;
  /**
   * Done again, or still to be done again, because an engine process or a lease was lost, or the job was handed back.
   */
  readonly repeated: TokenUsage;
}

/**
 * Meters the engine's work for one claim of a job, apart from what the job is charged for.
 * Each claim counts what it loses: the work done, minus what became part of the job's usage or is kept in a snapshot.
 * If nobody can know the loss, since the engine or the worker died with it, the work done in its place counts, as at
 * most that much was lost. A claim that loses the job to another counts nothing, as that one will.
 */
export class WorkMeter {
  /** Tokens of the engine's calls that came back. */
  #done = noTokens;
  #doneElsewhere = noTokens;
  /** Tokens that became part of the job's usage. */
  #stored = noTokens;
  #kept: TokenUsage;
  #repeated = noTokens;
  #lostCalls = 0;
  #standsForLost: boolean;

  constructor(readonly start: ClaimStart) {
    this.#kept = start.kept;
    this.#standsForLost = start.taken_over;
  }

  /** A call ended. */
  done(usage: TokenUsage): void {
    this.#done = addTokens(this.#done, usage);
    if (this.#lostCalls === 0) return;
    this.#lostCalls -= 1;
    this.#repeated = addTokens(this.#repeated, usage);
  }

  /** A remote teacher answered, now or to an earlier claim. */
  doneElsewhere(usage: TokenUsage): void {
    this.#doneElsewhere = addTokens(this.#doneElsewhere, usage);
  }

  /** The engine lost a call, which is made again. */
  lostCall(): void {
    this.#lostCalls += 1;
  }

  /** A phase, or an inference, ended with this usage. */
  stored(phase: string, usage: TokenUsage): void {
    this.#stored = addTokens(this.#stored, usage);
    this.#kept = noTokens;
    // A training goes on from its snapshot, so only an unknown number of seconds of it is lost.
    if (this.#standsForLost && phase !== 'training') {
      this.#repeated = addTokens(this.#repeated, fewerTokens(usage, this.#done));
    }
    this.#standsForLost = false;
  }

  /** The current training has a snapshot. `usage` is that of its phase so far. */
  kept(usage: TokenUsage): void {
    this.#kept = usage;
  }

  /** `charged` is the usage that the job ended with. */
  end(how: WorkEnd, charged: TokenUsage = noTokens): WorkReport {
    const { usage, kept } = this.start;
    const nothing = { charged: noTokens, waived: noTokens, repeated: noTokens };
    const done = addTokens(addTokens(this.#done, this.#doneElsewhere), kept);
    switch (how) {
      case 'charged': {
        const surplus = subtractTokens(done, subtractTokens(charged, usage));
        return { ...nothing, charged, repeated: addTokens(this.#repeated, moreTokens(surplus, noTokens)) };
      }
      case 'handed_back': {
        const surplus = subtractTokens(done, addTokens(this.#stored, this.#kept));
        return { ...nothing, repeated: addTokens(this.#repeated, moreTokens(surplus, noTokens)) };
      }
      case 'waived':
        return { ...nothing, waived: addTokens(usage, done) };
      case 'lost':
        return nothing;
    }
  }
}
