/** How much a remote model is asked about a chunk. */
export const remoteTeacherSettings = {
  /** Lists of pairs for a chunk. Each sees what was asked before. The first is greedy. */
  maxLists: 4,
  /** Another list follows while at least this share of a list is new. */
  minFreshShare: 0.1,
  /** The most earlier questions that a prompt shows. */
  maxShown: 60,
  maxListTokens: 1024,
  laterTemperature: 0.7,
  /** How often every question is rewritten, and how many are rewritten in one call. */
  rewritings: 2,
  pairsPerRewriting: 8,
  maxRewritingTokens: 1024,
  /** The most that one answer may bring, since each pair is read back, which costs money. */
  maxPairs: 64,
  maxQuestions: 14,
  /** UTF-16 units. Text beyond the number of tokens is not read. */
  charsPerToken: 16,
  maxQuestionChars: 300,
} as const;
