/** How much a model is asked about a chunk; `docs/experiments/checkpoints.md` has what was tried. */
export const modelTeacherSettings = {
  /** For the plan, before anything was asked: about so many characters say one thing. */
  charsPerFact: 40,
  /** At most this share of the money for teaching goes into lists; the rest is for asking. */
  listingShare: 0.5,
  /** Lists of answers of each sentence: the first is greedy. */
  sentenceLists: 1,
  /** Lists of answers of a chunk in one round; the first of all is greedy, the others are sampled. */
  answerListsPerRound: 4,
  /** Another round follows while at least this share of what a round lists is new. */
  maxRounds: 4,
  minFreshShare: 0.1,
  answersTemperature: 0.7,
  maxAnswersTokens: 96,
  /** UTF-16 units: an answer that is longer is a sentence, and is not said again word for word. */
  maxAnswerChars: 60,
  /** Lists of pairs of a chunk: they bring up what no list of answers does. */
  pairLists: 2,
  pairsTemperature: 0.5,
  maxPairsTokens: 160,
  /** Questions for an answer: one is greedy, the others are sampled; then such of these in other words. */
  askedPerFact: 4,
  rephrasedPerFact: 1,
  /** A fact that reading back leaves with fewer questions than this gets `askedAgain` more. */
  enoughQuestions: 6,
  askedAgain: 6,
  questionTemperature: 1,
  /** See `GenerateRequest.minP`. It keeps questions from straying. */
  questionMinP: 0.2,
  maxQuestionTokens: 40,
  /** Nats a token, on average: a question that the model itself finds less likely is mostly none. */
  minQuestionLogprob: -1.2,
  /** Nats, of the whole answer: below it the model wavers between answers, and two facts may answer the question. */
  minReadingLogprob: -1,
} as const;
