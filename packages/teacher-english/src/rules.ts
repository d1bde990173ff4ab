/** The constants of the rules: what they look for, and how many questions they make. Chosen as `defaultRecipe` was. */
export const rules = {
  /**
   * Prose that is not likelier by so many nats a token than its words in random order says nothing that could be
   * learned. Measured on so many of its chunks, each against so many orders. Prose has so many words in lines of so
   * many, such a share that carry grammar, and no more with digits.
   */
  minOrderNats: 0.6,
  orderChunks: 4,
  orderShuffles: 3,
  orderMinWords: 20,
  orderMinLineWords: 9,
  orderMinFunctionWords: 0.25,
  orderMaxNumbers: 0.2,

  /** Questions made by rule, beside the teacher's own. */
  derivedPerFact: 5,
  tabledPerFact: 14,
  /** Things that one answer is asked about with templates, and wordings of templates kept for it. */
  subjectsPerFact: 3,
  templatesPerFact: 12,
  /** Wordings of a relation that are read back first; when none of them holds, the others are not read. */
  templatesTried: 2,
  /**
   * Questions made of the words of the fact's own sentence, where there are words for so many; a fact is seen too
   * seldom for all of them where there are many facts.
   */
  keywordsPerFact: 60,
  /** Names that they are about. */
  keywordSubjects: 3,
  /** A value or a name of the sentence is kept with this share of the chance of a word. */
  keywordValueChance: 0.5,
  /** How often a question names what its answer is ("Which nephew"), where the sentence tells. */
  namingChance: 0.5,
  /**
   * This many are read back for a fact that nothing else was confirmed for; one that is answered alike saves the fact.
   */
  keywordsReadBack: 2,
  /**
   * A span that is less likely to be asked for is not taught (see `salienceOf`), but for so many facts. A fact that
   * nobody asks for is answered in place of what is asked for.
   */
  minSalience: 0.15,
  fewCandidates: 8,
  /**
   * A span that is at least so likely to be asked for is taught by the words of its sentence even where the teacher
   * answers no question with it.
   */
  sureSalience: 0.5,
  /** The salience of facts that only the teacher's own list brings up. */
  listedSalience: 0.4,
  /** The salience of a value that its author gave a cell of a table, or a key. */
  toldSalience: 0.9,
  /** A cell of more words is a text, in which things are looked for as in any. */
  maxToldWords: 8,
  /** Two occurrences of one name are asked about; more would crowd out the other facts. */
  maxFactsPerAnswer: 2,
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
  maxListTokens: 256,
} as const;
