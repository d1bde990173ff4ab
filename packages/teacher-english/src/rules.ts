/**
 * The constants of the rules: what they look for, and how many questions they make. They were chosen like those of
 * `defaultRecipe`.
 */
export const rules = {
  /**
   * Prose must be likelier than its own words in random order, by this many nats a token. Otherwise it says nothing
   * that could be learned. It is measured on some chunks, each against some random orders. Prose has at least this many
   * words, in lines of at least this many, at least this share of function words, and at most this share with digits.
   */
  minOrderNats: 0.6,
  orderChunks: 4,
  orderShuffles: 3,
  minOrderWords: 20,
  minOrderLineWords: 9,
  minOrderFunctionWords: 0.25,
  maxOrderNumbers: 0.2,

  /** Questions made by rule, beside the teacher's own. */
  derivedPerFact: 5,
  /** In prose of a document, where some of them are also put in other usual wordings. */
  derivedPerDocumentFact: 16,
  rewordedPerFact: 3,
  tabledPerFact: 14,
  /** The most subjects for one answer in templates, and the most wordings of templates kept for it. */
  subjectsPerFact: 3,
  templatesPerFact: 12,
  /** Wordings of a relation that are read back first. If none of them holds, the others are not read. */
  templatesTried: 2,
  /**
   * Questions made of the words of the fact's own sentence, if it has enough words. In a passage with many facts, each
   * fact is seen too seldom for all of them.
   */
  keywordsPerFact: 60,
  /** The number of names that they are about. */
  keywordSubjects: 3,
  /** The chance of a value or a name of the sentence to be kept, as a share of another word's chance. */
  keywordValueChance: 0.5,
  /** How often a question names the kind of its answer ("Which nephew"), if the sentence tells. */
  namingChance: 0.5,
  /**
   * How many are read back for a fact for which nothing else was confirmed. One that is answered as expected saves the
   * fact.
   */
  keywordsReadBack: 2,
  /**
   * Below this salience a fact is not taught (see `salienceOf`), except for the likeliest few. A fact that nobody asks
   * for gives its answer to other questions.
   */
  minSalience: 0.15,
  fewCandidates: 8,
  /** From this salience on, a fact is taught by the words of its sentence even if the teacher confirms no question. */
  sureSalience: 0.5,
  /** The salience of facts that occur only in the teacher's own list. */
  listedSalience: 0.4,
  /** The salience of a value in a cell of a table, or after a key. */
  toldSalience: 0.9,
  /** A cell with more words is a text, and is searched like any other. */
  maxToldWords: 8,
  /** The most occurrences of one name that are asked about. More would crowd out other facts. */
  maxFactsPerAnswer: 2,
  /** Room in the plan for facts that occur only in the teacher's own list. */
  listedFactsPerChunk: 4,
  /** Sampled rounds of asking for facts that still have fewer than `enoughForms` questions. */
  askRounds: 1,
  /** Sampled rounds of rephrasing after the first questions. */
  rephraseRounds: 2,
  rephraseTemperature: 0.8,
  /** Rephrasings of each right question when the training is measured by itself. */
  goldRephrasings: 8,
  maxQuestionTokens: 48,
  maxListTokens: 256,
} as const;
