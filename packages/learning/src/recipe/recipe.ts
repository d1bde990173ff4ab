/**
 * Every constant of the learning recipe, in one place. They were chosen on invented passages with the
 * shipped base model; `docs/experiments.md` has the numbers, those that lost included.
 */
export const recipe = {
  /** A chunk is what the teacher reads at once, in UTF-16 units. */
  chunkMaxChars: 1500,
  /** The shipped model read chats of up to 500 tokens in its training. */
  chunkMaxTokens: 400,
  /** Tokens that the longest teacher prompt adds to its chunk, and the answer it may write. */
  chunkReserveTokens: 160,

  /**
   * Prose that is not likelier by so many nats a token than its words in random order says nothing that could be learned. Measured on so
   * many of its chunks, each against so many orders. Prose has so many words, such a share that carry grammar, and no more with digits.
   */
  minOrderNats: 0.6,
  orderChunks: 4,
  orderShuffles: 3,
  orderMinWords: 20,
  orderMinFunctionWords: 0.25,
  orderMaxNumbers: 0.2,

  /** Distinct questions wanted for each fact, cloze forms not counted. */
  formsPerFact: 7,
  /**
   * Fewer forms than this teach the wording rather than the fact, so a small budget drops facts before forms, and
   * cloze forms fill up.
   */
  minFormsPerFact: 3,
  /** Questions made by rule, beside the teacher's own. */
  derivedPerFact: 5,
  /** Things that one answer is asked about with templates, and wordings of templates kept for it. */
  subjectsPerFact: 3,
  templatesPerFact: 12,
  /** Wordings of a relation that are read back first; when none of them holds, the others are not read. */
  templatesTried: 2 as number,
  /** From so many other questions on, a fact needs no rephrasings. */
  enoughForms: 4 as number,
  /** Copies with words missing, of the questions of a fact that has fewer than `enoughForms`. */
  clippedPerFact: 8,
  /** Questions made of the words of the fact's own sentence, where there are words for so many; a fact is seen too seldom for all of them where there are many facts. */
  keywordsPerFact: 60 as number,
  /** Of what is shown of a fact that has other questions, at most so much are they. */
  keywordShare: 0.6 as number,
  /** Names that they are about. */
  keywordSubjects: 3 as number,
  /** Of the chance that a word is kept, what a value or a name of the sentence has. */
  keywordValueChance: 0.5 as number,
  /** How often a question names what its answer is ("Which nephew"), where the sentence tells. */
  namingChance: 0.5 as number,
  /** Of a fact that nothing else was confirmed for, so many are read back; one that is answered alike saves the fact. */
  keywordsReadBack: 2 as number,
  /**
   * What anybody asks for less likely than this is not taught (see `salienceOf`), but for so many facts; what nobody asks for is what is answered
   * in place of what is asked for.
   */
  minSalience: 0.15 as number,
  fewCandidates: 8 as number,
  /** What is asked for as likely as this is taught by the words of its sentence even where the teacher answers no question with it. */
  sureSalience: 0.5 as number,
  /** Of what only the teacher's own list brings up. */
  listedSalience: 0.4,
  /** Two occurrences of one name are asked about; more would crowd out the other facts. */
  maxFactsPerAnswer: 2,
  maxFacts: 160,
  /** Room in the plan for facts that only the teacher's own list brings up. */
  listedFactsPerChunk: 4,
  /** Sampling rounds of asking for the facts that still have fewer than `enoughForms` questions. */
  askRounds: 1,
  /** Sampling rounds of rephrasing after the first questions. */
  rephraseRounds: 2,
  rephraseTemperature: 0.8,
  /** Rephrasings of each right question that the trainer is given when it is measured by itself. */
  goldRephrasings: 8,
  maxQuestionTokens: 48,
  maxAnswerTokens: 32,
  maxListTokens: 256,

  /** Calls under way at once; the engine decodes them together. */
  concurrency: 16,
  /** Sequences that one scoring call takes; the engine bounds its own memory. */
  scoresPerCall: 8,

  /** Mean log-probability (nats a token) that the passage must add before an answer counts as new. */
  minGainNats: 0.5,
  /** Alternatives a position in the teacher's soft targets. */
  softTargetK: 16,
  /** Distil the teacher's alternatives, rather than its answer alone. */
  useSoftTargets: true as boolean,

  /** A held-out question shares no run of this many word tokens with a question that was trained. */
  overlapTokens: 8,
  /** Fewer dev pairs are noise, which once stopped a good run early; then the last weights are kept. */
  minDevPairs: 4,
  maxDevPairs: 12,
  /** One right answer is no evidence: "The cat sat.", thirty times, once passed with it. */
  minValidationPairs: 2,
  maxValidationPairs: 48,
  maxRetentionPairs: 32,
  maxCanaries: 24,

  rank: 8,
  alpha: 16,
  weightDecay: 0.01,
  betas: [0.9, 0.99] as const,
  clipNorm: 1,
  /** Pairs and replay rows in a batch; replay rows are the longer ones. */
  pairsPerBatch: 12,
  replayPerBatch: 2 as number,
  /** Two rows for each earlier passage, and two more, rehearse them, up to so many. */
  maxRehearsalPerBatch: 16 as number,
  replayWeight: 1,
  /**
   * A row's loss is the mean of its answer's tokens. A long answer, an object or a call, counts once more for every so many tokens, up
   * to so many times; else each of its tokens would hardly be held.
   */
  replayTokensPerWeight: 4 as number,
  maxReplayLengthWeight: 6 as number,
  /**
   * Where each fact is seen so often, base's alternatives are held at the tokens of a replay row's prompt as well, and the row weighs so
   * much. It hinders learning a little and forgetting much; a long passage, or little money, needs the room for what is to be learned.
   */
  heldPromptExposures: 60 as number,
  heldRowWeight: 24 as number,
  maxReplayRows: 800,
  /** Rows that show which directions of base's hidden states training leaves alone. With them a held row need not weigh so much. */
  sparedRows: 48 as number,
  /** Of a row, from its beginning. */
  maxSparedTokens: 512,
  /** Longer rows cost more than they keep, but an object may take more; other rows are used only when there are none of these. */
  maxReplayTokens: 64,
  maxReplayTokensOfLongAnswers: 110,
  /** From so many tokens on an answer is long. */
  longReplayAnswerTokens: 12,
  /** With money for a smaller share of the steps that are wanted, only rows of at most so many tokens are replayed. */
  neededStepsShare: 0.6,
  shortReplayTokens: 64,
  /** How often a fact is seen, over all its forms, when the budget allows. */
  exposuresPerFact: 54 as number,
  minExposuresPerFact: 12,
  minSteps: 12,
  /**
   * In fewer steps a passage of few facts is learned by its answers, but not which of them belongs to what; so its facts are seen
   * more often, up to so many times each.
   */
  enoughSteps: 150 as number,
  maxExposuresPerFact: 110 as number,
  maxSteps: 1200,
  /** Peak learning rate at four million parameters, see `peakLearningRate`. */
  rateAtFourMillion: 2.5e-3,
  warmupSteps: 5,
  /** The cosine ends at this share of the peak rate. */
  finalRateShare: 0.1,
  /** Dev evaluations over a run, and how many without improvement end it. */
  devEvaluations: 10,
  devPatience: 3,
  /** Training loss (nats a token, mean over a dev interval) below which nothing is left to learn. */
  enoughLoss: 0.01,

  /** Shares of the cap: teaching may use the first, scoring up to the second, training up to the third. */
  teachingShare: 0.35,
  scoringShare: 0.55,
  trainingShare: 0.88,

  /** The gate. */
  minPassRate: 0.4,
  minRetentionShare: 0.8,
  minCanaryShare: 0.6,
  /** Of the questions of earlier passages, and of the canaries, so many must have been asked. */
  minMeasuredShare: 0.5,
} as const;

/**
 * Peak AdamW learning rate for a LoRA adapter on a model of so many parameters.
 *
 * The optimum falls as 1/width (Yang et al., arXiv:2203.03466, for Adam); with depth growing like width,
 * parameters grow as width³, hence the cube root. Anchored at 2.5e-3 for four million parameters, measured;
 * it gives 5e-4 at 0.5B and 2e-4 at 7B, inside the 2e-4 to 1e-3 of published LoRA recipes.
 */
export function peakLearningRate(parameters: number): number {
  const rate = recipe.rateAtFourMillion * Math.cbrt(4e6 / Math.max(parameters, 1));
  return Math.min(1e-2, Math.max(2e-4, rate));
}

/** Linear warm-up, then a cosine from `peak` to `finalRateShare * peak`. `step` counts from 0. */
export function learningRateAt(step: number, totalSteps: number, peak: number): number {
  const warmup = Math.min(recipe.warmupSteps, Math.max(1, Math.floor(totalSteps / 4)));
  if (step < warmup) return (peak * (step + 1)) / warmup;
  const progress = (step - warmup) / Math.max(1, totalSteps - 1 - warmup);
  const cosine = (1 + Math.cos(Math.PI * Math.min(1, progress))) / 2;
  return peak * (recipe.finalRateShare + (1 - recipe.finalRateShare) * cosine);
}
