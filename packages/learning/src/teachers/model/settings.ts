/** How much a model is asked about a chunk. `docs/experiments/` has what was tried. */
export const modelTeacherSettings = {
  /** Characters that say one thing, for the plan before anything is asked. */
  charsPerFact: 40,
  /** The largest share of the teaching money for lists. The rest is for asking. */
  listingShare: 0.5,
  /** Lists of answers for each sentence. The first is greedy. */
  sentenceLists: 1,
  /** Lists of answers for a chunk in one round. The very first is greedy, the others are sampled. */
  answerListsPerRound: 4,
  /** Another round follows while at least this share of a round's answers is new. */
  maxRounds: 4,
  minFreshShare: 0.1,
  answersTemperature: 0.7,
  maxAnswersTokens: 96,
  /** UTF-16 units. A longer answer is a sentence, which nobody repeats word for word. */
  maxAnswerChars: 60,
  /** Lists of pairs for a chunk. They find answers that no list of answers has. */
  pairLists: 2,
  pairsTemperature: 0.5,
  maxPairsTokens: 160,
  /** Questions for an answer (the first greedy, the others sampled), then questions in other words. */
  askedPerFact: 4,
  rephrasedPerFact: 1,
  /** A fact left with fewer questions than this after reading back gets `askedAgain` more. */
  enoughQuestions: 6,
  askedAgain: 6,
  /**
   * A sentence that few questions ask for: lists of its answers (the first greedy, the others sampled). With fewer than
   * `enoughPoorAnswers` different ones, runs of its words make them `filledAnswers`. Many questions come twice or are
   * no good, so more are asked than are missing.
   */
  poorSentenceLists: 3,
  enoughPoorAnswers: 6,
  filledAnswers: 8,
  askedPerMissing: 1.8,
  questionTemperature: 1,
  /** See `GenerateRequest.minP`. It keeps questions from straying. */
  minQuestionP: 0.2,
  maxQuestionTokens: 40,
  /** Nats a token, on average. A question that the model itself finds less likely is mostly not a question. */
  minQuestionLogprob: -1.2,
  /**
   * Nats of the whole question of another teacher, to call it asked well; the most questions of a fact that are judged;
   * and the characters of a passage for each fact that must be asked for well. Of plain English rules ask at least one
   * in 100 characters well, of Wikipedia seldom so many.
   */
  wellAskedLogprob: -12,
  judgedForms: 4,
  charsPerWellAsked: 100,
  /** Nats of the whole answer. Below it the model wavers between answers, and two facts may answer the question. */
  minReadingLogprob: -1,
} as const;
