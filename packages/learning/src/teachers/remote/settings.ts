/** How much a model elsewhere is asked about a chunk. */
export const remoteTeacherSettings = {
  /** Lists of pairs of a chunk: each sees what was asked before; the first is asked for greedily. */
  maxLists: 4,
  /** Another list follows while at least this share of a list is new. */
  minFreshShare: 0.1,
  /** The prompt shows so many earlier questions. */
  maxShown: 60,
  maxListTokens: 1024,
  laterTemperature: 0.7,
  /** Every question is rewritten so many times, with so many others in one call. */
  rewritings: 2,
  pairsPerRewriting: 8,
  maxRewritingTokens: 1024,
  /** Each is read back, which costs money, so that no answer may bring more. */
  maxPairs: 64,
  maxQuestions: 14,
  /** UTF-16 units: more of a text than its tokens can be is not read. */
  charsPerToken: 16,
  maxQuestionChars: 300,
} as const;
