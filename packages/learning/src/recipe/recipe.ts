import type { Prompts } from './prompts.js';

/**
 * How passages are learned on one checkpoint: every number that decides what is taught, trained and accepted, and the
 * words of the prompts.
 */
export interface Recipe {
  readonly prompts: Prompts;
  readonly chunks: ChunkRecipe;
  readonly teaching: TeachingRecipe;
  readonly split: SplitRecipe;
  readonly training: TrainingRecipe;
  readonly replay: ReplayRecipe;
  readonly evaluating: EvaluatingRecipe;
  readonly shares: BudgetShares;
}

/** A chunk is what the teacher reads at once. */
export interface ChunkRecipe {
  /** UTF-16 units. */
  readonly maxChars: number;
  readonly maxTokens: number;
  /** Tokens that the longest teacher prompt adds to its chunk, and the answer it may write. */
  readonly reserveTokens: number;
}

export interface TeachingRecipe {
  readonly maxFacts: number;
  /** Distinct questions wanted for each fact, those with a gap not counted. */
  readonly formsPerFact: number;
  /**
   * Fewer forms than this teach the wording rather than the fact, so a small budget drops facts before forms, and gaps
   * fill up.
   */
  readonly minFormsPerFact: number;
  /** With this many other questions or more, a fact needs no rephrasings, and no copies with words missing. */
  readonly enoughForms: number;
  readonly maxAnswerTokens: number;
  /** Mean log-probability (nats a token) that the passage must add before an answer counts as new. */
  readonly minGainNats: number;
  /** Alternatives a position in the teacher's soft targets. */
  readonly softTargetK: number;
}

/** Which questions are held out. */
export interface SplitRecipe {
  /** A held-out question shares no run of this many word tokens with a question that was trained. */
  readonly overlapTokens: number;
  /** Fewer dev pairs are noise, which once stopped a good run early; then the last weights are kept. */
  readonly minDevPairs: number;
  readonly maxDevPairs: number;
  /** One right answer is no evidence: "The cat sat.", thirty times, once passed with it. */
  readonly minValidationPairs: number;
  readonly maxValidationPairs: number;
}

export interface TrainingRecipe {
  readonly rank: number;
  readonly alpha: number;
  /** Peak AdamW learning rate. */
  readonly peakRate: number;
  readonly warmupSteps: number;
  /** The cosine ends at this share of the peak rate. */
  readonly finalRateShare: number;
  readonly weightDecay: number;
  readonly betas: readonly [number, number];
  readonly clipNorm: number;
  /** Pairs in a batch; replay and rehearsal rows come on top. */
  readonly pairsPerBatch: number;
  /** Distil the teacher's alternatives, rather than its answer alone. */
  readonly useSoftTargets: boolean;
  /** Copies with words missing, of the questions of a fact that has fewer than `enoughForms`. */
  readonly clippedPerFact: number;
  /** At most this share of what is shown of a fact is made of its sentence's words, if it has other questions. */
  readonly wordsShare: number;
  /** How often a fact is seen, over all its forms, when the budget allows. */
  readonly exposuresPerFact: number;
  readonly minExposuresPerFact: number;
  readonly minSteps: number;
  /**
   * In fewer steps a passage of few facts is learned by its answers, but not which of them belongs to what; so its
   * facts are seen more often, up to so many times each.
   */
  readonly enoughSteps: number;
  readonly maxExposuresPerFact: number;
  readonly maxSteps: number;
  /** Dev evaluations over a run, and how many without improvement end it. */
  readonly devEvaluations: number;
  readonly devPatience: number;
  /** Training loss (nats a token, mean over a dev interval) below which nothing is left to learn. */
  readonly enoughLoss: number;
}

/**
 * What holds the model as it is while a passage is learned: rows of its own training, and rehearsal of earlier
 * passages.
 */
export interface ReplayRecipe {
  /** Replay rows in a batch; they are longer than pairs. */
  readonly rowsPerBatch: number;
  /** Two rows for each earlier passage, and two more, rehearse them, up to so many. */
  readonly maxRehearsalPerBatch: number;
  readonly weight: number;
  /**
   * A row's loss is the mean of its answer's tokens. A long answer, an object or a call, counts once more for every so
   * many tokens, up to so many times; else each of its tokens would hardly be held.
   */
  readonly tokensPerWeight: number;
  readonly maxLengthWeight: number;
  /**
   * Where each fact is seen so often, base's alternatives are held at the tokens of a replay row's prompt as well, and
   * the row weighs so much. It hinders learning a little and forgetting much; a long passage, or little money, needs
   * the room for what is to be learned.
   */
  readonly heldPromptExposures: number;
  readonly heldRowWeight: number;
  readonly maxRows: number;
  /**
   * Rows that show which directions of base's hidden states training leaves alone. With them a held row need not weigh
   * so much.
   */
  readonly protectedRows: number;
  /** Tokens taken from the beginning of a row. */
  readonly maxProtectedTokens: number;
  /**
   * Longer rows cost more than they keep, but an object may take more; other rows are used only when there are none of
   * these.
   */
  readonly maxTokens: number;
  readonly maxTokensOfLongAnswers: number;
  /** An answer of this many tokens or more is long. */
  readonly longAnswerTokens: number;
  /**
   * If there is money for less than this share of the wanted steps, only rows of at most `shortTokens` tokens are
   * replayed.
   */
  readonly neededStepsShare: number;
  readonly shortTokens: number;
}

/** What is asked of a candidate, and the gate. */
export interface EvaluatingRecipe {
  readonly maxRetentionPairs: number;
  readonly maxCanaries: number;
  readonly minPassRate: number;
  readonly minRetentionShare: number;
  readonly minCanaryShare: number;
  /** The most tokens that a reply to an unrelated prompt may have. */
  readonly maxReplyTokens: number;
  /** See `Drift`: beyond this the candidate speaks of the passage where it should not. */
  readonly maxDriftNats: number;
  /** At least this share of the questions of earlier passages, and of the canaries, must have been asked. */
  readonly minMeasuredShare: number;
}

/** Shares of the cap: teaching may use the first, scoring up to the second, training up to the third. */
export interface BudgetShares {
  readonly teaching: number;
  readonly scoring: number;
  readonly training: number;
}
