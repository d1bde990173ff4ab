import type { LearningBudget, LearningUsage } from '../types.js';

export const noUsage: LearningUsage = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, training_tokens: 0 };

export function addUsage(a: LearningUsage, b: LearningUsage): LearningUsage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    training_tokens: a.training_tokens + b.training_tokens,
  };
}

export function subtractUsage(a: LearningUsage, b: LearningUsage): LearningUsage {
  return {
    input_tokens: a.input_tokens - b.input_tokens,
    output_tokens: a.output_tokens - b.output_tokens,
    cached_input_tokens: a.cached_input_tokens - b.cached_input_tokens,
    training_tokens: a.training_tokens - b.training_tokens,
  };
}

/** Nano-USD. Cached tokens replace ordinary input tokens and have a rate of their own. */
export function costNanousd(usage: LearningUsage, budget: LearningBudget): number {
  return (
    (usage.input_tokens - usage.cached_input_tokens) * budget.input_nanousd_per_token +
    usage.cached_input_tokens * budget.cached_input_nanousd_per_token +
    usage.output_tokens * budget.output_nanousd_per_token +
    usage.training_tokens * budget.training_nanousd_per_token
  );
}

/**
 * Counts what a job uses, and holds the worst case of every call under way, so that spending never passes the cap.
 * Before a call, `spent + held <= limit`; and a call never uses more than was held for it.
 */
export class Meter {
  #usage: LearningUsage;
  #heldNanousd = 0;

  constructor(
    readonly budget: LearningBudget,
    /** The usage of the job's earlier phases. */
    earlier: LearningUsage = noUsage,
  ) {
    this.#usage = earlier;
  }

  get usage(): LearningUsage {
    return this.#usage;
  }

  /** Forgets everything used and held since then, for work that was lost. No call of that work may be under way. */
  rewind(usage: LearningUsage): void {
    this.#usage = usage;
    this.#heldNanousd = 0;
  }

  /** Nano-USD that may still be promised to calls, under a limit that is a share of the cap. */
  freeNanousd(share = 1): number {
    const limitNanousd = Math.floor(this.budget.max_compute_microusd * 1000 * share);
    return limitNanousd - costNanousd(this.#usage, this.budget) - this.#heldNanousd;
  }

  /** Holds the worst case of a call, or refuses. */
  tryHold(worst: LearningUsage, share = 1): boolean {
    const worstNanousd = costNanousd(worst, this.budget);
    if (worstNanousd > this.freeNanousd(share)) return false;
    this.#heldNanousd += worstNanousd;
    return true;
  }

  /** Records what the call used. `null` means that it failed, and nothing counts. */
  settle(worst: LearningUsage, actual: LearningUsage | null): void {
    this.#heldNanousd -= costNanousd(worst, this.budget);
    if (actual !== null) this.#usage = addUsage(this.#usage, actual);
  }
}
