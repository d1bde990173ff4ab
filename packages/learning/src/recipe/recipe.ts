import type { Prompts } from './prompts.js';

/**
 * How one checkpoint learns passages: every number that decides what is taught, trained and accepted, and the words of
 * the prompts.
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
  /** Tokens that the longest prompt of the teacher adds to its chunk, and the answer it may write. */
  readonly reserveTokens: number;
}

export interface TeachingRecipe {
  readonly maxFacts: number;
  /** Distinct questions wanted for each fact, not counting those with a gap. */
  readonly formsPerFact: number;
  /**
   * Fewer forms than this teach the wording rather than the fact. So a small budget drops facts before forms, and gaps
   * fill up.
   */
  readonly minFormsPerFact: number;
  /** A fact with this many other questions needs no rephrasings, and no copies with words missing. */
  readonly enoughForms: number;
  readonly maxAnswerTokens: number;
  /** Nats a token that the passage must add to an answer's mean log-probability for the answer to count as new. */
  readonly minGainNats: number;
  /** Alternatives for each position in the teacher's soft targets. */
  readonly softTargetK: number;
}

/** Which questions are held out. */
export interface SplitRecipe {
  /** A held-out question shares no run of this many word tokens with a question that was trained. */
  readonly overlapTokens: number;
  /** Fewer dev pairs are noise, which once stopped a good run early. Below this number the last weights are kept. */
  readonly minDevPairs: number;
  readonly maxDevPairs: number;
  /** One right answer is no evidence: "The cat sat.", repeated thirty times, once passed with it. */
  readonly minValidationPairs: number;
  readonly maxValidationPairs: number;
}

export type AnswersWith = 'values' | 'sentences';

export interface TrainingRecipe {
  readonly rank: number;
  readonly alpha: number;
  /** The lowest layer that an adapter changes, from 0. Whatever lies below is computed once for each row. */
  readonly firstLayer: number;
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
  /** The answers of a version: the value alone, or the sentence of the passage that gives it. */
  readonly answersWith: AnswersWith;
  /** Whether a passage that was not asked about well is answered with sentences, see `settledRecipe`. */
  readonly sentencesIfAskedPoorly: boolean;
  /** The lowest layer of such a passage, if it is higher than `firstLayer`. */
  readonly sentencesFirstLayer: number;
  /**
   * Where answers are sentences, the teacher is asked more about a sentence that fewer questions ask for, and each
   * sentence is trained as often as any other. With 0 nothing more is asked, and each fact is trained as often.
   */
  readonly questionsPerSentence: number;
  /** First tokens of a sentence that count as much as the whole of it, see `withOpening`. 0 for none. */
  readonly openingTokens: number;
  /**
   * One row of a sentence in so many is trained whole, and the others on `ReplayRecipe.beginningTokens` tokens of the
   * answer. With 1 all are whole.
   */
  readonly wholeSentenceEvery: number;
  /** Trains on the teacher's alternatives rather than on its answer alone. A sentence is no answer of the teacher's. */
  readonly useSoftTargets: boolean;
  /** Copies with words missing, for each fact that has fewer than `enoughForms` questions. */
  readonly clippedPerFact: number;
  /** The largest share of words of its own sentence in what is shown of a fact, if the fact has other questions. */
  readonly wordsShare: number;
  /** How often a fact is seen, over all its forms, when the budget allows. */
  readonly exposuresPerFact: number;
  readonly minExposuresPerFact: number;
  readonly minSteps: number;
  /**
   * In fewer steps, a passage of few facts teaches its answers, but not which answer belongs to which question. So its
   * facts are seen more often, up to `maxExposuresPerFact` times each.
   */
  readonly enoughSteps: number;
  readonly maxExposuresPerFact: number;
  readonly maxSteps: number;
  /** Dev evaluations over a run, and the number without improvement that ends it. */
  readonly devEvaluations: number;
  readonly devPatience: number;
  /** Training loss (nats a token, mean over a dev interval) below which nothing is left to learn. */
  readonly enoughLoss: number;
}

/**
 * Keeps the model as it is while it learns a passage, by rows of its own training and rehearsal of earlier passages.
 */
export interface ReplayRecipe {
  /** Replay rows in a batch. They are longer than pairs. */
  readonly rowsPerBatch: number;
  /**
   * Rows in a batch of which only the first `beginningTokens` tokens of the answer are trained: the model's own, to
   * well-known questions. The first tokens decide whether an answer becomes one of the passage's sentences, so that
   * these keep other questions apart at little cost.
   */
  readonly beginningRowsPerBatch: number;
  readonly beginningTokens: number;
  /**
   * Rows in a batch of which one wrong token spoils the reply: objects and sums. They are lost first, and few of all
   * rows are such. With 0 they are replayed like any others.
   */
  readonly exactRowsPerBatch: number;
  /**
   * Rows in a batch that ask about things that do not exist. The answer is `Prompts.unknown`. A recipe that wants
   * beginnings, which show what is known, trains none unless the replay rows have some.
   */
  readonly unknownRowsPerBatch: number;
  /** Every other such row is a trained question about another name. */
  readonly renamesQuestions: boolean;
  /**
   * The most questions that the parent is asked about all passages that it answers with sentences. Its replies are
   * rehearsed. At most a quarter of the questions are about one passage.
   */
  readonly maxRehearsedQuestions: number;
  /** Rows in a batch that rehearse: so many for each earlier passage, and as many more, up to the most. */
  readonly rehearsedPerPassage: number;
  readonly maxRehearsalPerBatch: number;
  readonly weight: number;
  /**
   * The loss of a row is the mean over the tokens of its answer. A long answer (an object or a call) counts once more
   * for every `tokensPerWeight` tokens, up to `maxLengthWeight` times. Otherwise each of its tokens would hardly count.
   */
  readonly tokensPerWeight: number;
  readonly maxLengthWeight: number;
  /**
   * If each fact is seen this often, training also holds base's alternatives at the tokens of a replay row's prompt,
   * and the row weighs `heldRowWeight`. This hinders learning a little and forgetting a lot. A long passage, or little
   * money, needs the room for what is to be learned.
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
   * Longer rows cost more than they keep, but a row with a long answer may be longer. Other rows are used only if there
   * are none of these.
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

/** How much a candidate is asked, and the thresholds of the gate. */
export interface EvaluatingRecipe {
  /** The most tokens that an answer about a passage may have. */
  readonly maxAnswerTokens: number;
  readonly maxRetentionPairs: number;
  readonly maxCanaries: number;
  readonly minPassRate: number;
  readonly minRetentionShare: number;
  readonly minCanaryShare: number;
  /** The longest reply to an unrelated prompt, in tokens. */
  readonly maxReplyTokens: number;
  /** The most drift, see `Drift`. Beyond it the candidate speaks of the passage where it should not. */
  readonly maxDriftNats: number;
  /** The share of the questions about earlier passages, of the canaries and of the drift's replies to be asked. */
  readonly minMeasuredShare: number;
}

/**
 * Shares of the cap. Teaching may use the first, scoring up to the second, training up to the third. A teacher that
 * confirms while it teaches does so with the share of scoring.
 */
export interface BudgetShares {
  readonly teaching: number;
  readonly scoring: number;
  readonly training: number;
}
