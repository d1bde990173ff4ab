import { plainPrompts } from './prompts.js';
import type { Recipe, ReplayRecipe } from './recipe.js';

/** A model with this many parameters or more learns in fewer steps than the shipped one, and each step takes long. */
const largeParameters = 50e6;

/**
 * The recipe for a model of this size. The values for small models were chosen for the shipped model on invented
 * passages, those for large models for SmolLM2-135M on paragraphs of Wikipedia. `docs/experiments/` has the numbers,
 * including those of the values that lost.
 */
export function defaultRecipe(parameters: number): Recipe {
  const recipe = smallRecipe(parameters);
  if (parameters < largeParameters) return recipe;
  return {
    ...recipe,
    training: {
      ...recipe.training,
      pairsPerBatch: 8,
      exposuresPerFact: 36,
      maxExposuresPerFact: 60,
      warmupSteps: 5,
      minSteps: 12,
      enoughSteps: 80,
      maxSteps: 1200,
    },
    replay: {
      ...recipe.replay,
      maxRehearsedQuestions: 96,
      rehearsedPerPassage: 2,
      maxRehearsalPerBatch: 16,
      unknownRowsPerBatch: 0,
      renamesQuestions: false,
    },
  };
}

/** Few sentences of an encyclopaedia are longer. */
const maxSentenceTokens = 96;

/** A passage of few facts takes as many steps as others to be known by heart. */
const fewSentences = { maxExposuresPerFact: 150 };

/** A small model's answers stand or fall with their first words. */
const smallOpeningTokens = 8;

/** Sentences are forgotten sooner than values. */
const rehearsalOfSentences = { perPassage: 2, perBatch: 12 };

/** These rows keep other questions from being answered with sentences of the passage, and objects and sums whole. */
const rowsBesideSentences = {
  exactRowsPerBatch: 1,
  beginningRowsPerBatch: 4,
  beginningTokens: 12,
  unknownRowsPerBatch: 1,
};

/**
 * The recipe for a model that answers with sentences. No question is held out to stop its training, which goes to the
 * end, where the rate is low: stopped by the dev loss, SmolLM2-135M knew fewer sentences and had lost more skills.
 * Where each sentence is a fact with many questions, it is seen more often.
 */
export function withSentences(recipe: Recipe, questionsPerSentence = 0): Recipe {
  const exposures =
    questionsPerSentence === 0
      ? fewSentences
      : { exposuresPerFact: 64, maxExposuresPerFact: 240, questionsPerSentence };
  const { training, replay, ...rest } = answeringSentences(recipe);
  return {
    ...rest,
    training: { ...training, wholeSentenceEvery: 3, ...exposures },
    replay: { ...replay, ...rowsBesideSentences },
  };
}

/** The recipe for a model that answers with values, and with sentences where those were not asked for well. */
export function answeringEither({ training, evaluating, ...rest }: Recipe): Recipe {
  return {
    ...rest,
    training: { ...training, sentencesIfAskedPoorly: true },
    evaluating: { ...evaluating, maxAnswerTokens: maxSentenceTokens },
  };
}

/**
 * The recipe for a passage whose teacher says whether it was asked about well. A poor question seldom asks for its
 * value, but nearly always for its sentence. A small model must see the sentence whole each time to know it by heart.
 */
export function settledRecipe(recipe: Recipe, askedWell: boolean): Recipe {
  if (askedWell || !recipe.training.sentencesIfAskedPoorly) return recipe;
  const { training, replay, ...rest } = answeringSentences(recipe);
  const firstLayer = Math.max(training.firstLayer, training.sentencesFirstLayer);
  return {
    ...rest,
    training: { ...training, firstLayer, openingTokens: smallOpeningTokens, ...fewSentences },
    replay: {
      ...replay,
      rehearsedPerPassage: Math.max(replay.rehearsedPerPassage, rehearsalOfSentences.perPassage),
      maxRehearsalPerBatch: Math.max(replay.maxRehearsalPerBatch, rehearsalOfSentences.perBatch),
    },
  };
}

function answeringSentences({ split, training, evaluating, ...rest }: Recipe): Recipe {
  return {
    ...rest,
    split: { ...split, maxDevPairs: 0 },
    training: { ...training, answersWith: 'sentences' },
    evaluating: { ...evaluating, maxAnswerTokens: maxSentenceTokens },
  };
}

const smallReplay: ReplayRecipe = {
  rowsPerBatch: 1,
  exactRowsPerBatch: 0,
  beginningRowsPerBatch: 0,
  beginningTokens: 0,
  unknownRowsPerBatch: 1,
  renamesQuestions: true,
  maxRehearsedQuestions: 288,
  rehearsedPerPassage: 1,
  maxRehearsalPerBatch: 8,
  weight: 1,
  tokensPerWeight: 4,
  maxLengthWeight: 6,
  heldPromptExposures: 60,
  heldRowWeight: 24,
  maxRows: 800,
  protectedRows: 48,
  maxProtectedTokens: 512,
  maxTokens: 64,
  maxTokensOfLongAnswers: 110,
  longAnswerTokens: 12,
  neededStepsShare: 0.6,
  shortTokens: 64,
};

function smallRecipe(parameters: number): Recipe {
  return {
    prompts: plainPrompts,
    // The shipped model read chats of up to 500 tokens in its training.
    chunks: { maxChars: 1500, maxTokens: 400, reserveTokens: 160 },
    teaching: {
      maxFacts: 160,
      formsPerFact: 7,
      minFormsPerFact: 3,
      enoughForms: 4,
      maxAnswerTokens: 32,
      minGainNats: 0.5,
      softTargetK: 16,
    },
    split: { overlapTokens: 8, minDevPairs: 4, maxDevPairs: 12, minValidationPairs: 2, maxValidationPairs: 48 },
    training: {
      rank: 8,
      alpha: 16,
      firstLayer: 0,
      peakRate: peakLearningRate(parameters),
      warmupSteps: 10,
      finalRateShare: 0.1,
      weightDecay: 0.01,
      betas: [0.9, 0.99],
      clipNorm: 1,
      // Half as many pairs in twice as many steps learn more, and take little longer.
      pairsPerBatch: 6,
      answersWith: 'values',
      sentencesIfAskedPoorly: false,
      sentencesFirstLayer: 0,
      questionsPerSentence: 0,
      openingTokens: 0,
      wholeSentenceEvery: 1,
      useSoftTargets: true,
      clippedPerFact: 8,
      wordsShare: 0.6,
      exposuresPerFact: 54,
      minExposuresPerFact: 12,
      minSteps: 24,
      enoughSteps: 300,
      maxExposuresPerFact: 110,
      maxSteps: 2400,
      devEvaluations: 10,
      devPatience: 3,
      enoughLoss: 0.01,
    },
    replay: smallReplay,
    evaluating: {
      maxAnswerTokens: 32,
      maxRetentionPairs: 32,
      maxCanaries: 24,
      minPassRate: 0.4,
      minRetentionShare: 0.8,
      minCanaryShare: 0.6,
      maxReplyTokens: 64,
      maxDriftNats: 0.5,
      minMeasuredShare: 0.5,
    },
    shares: { teaching: 0.35, scoring: 0.55, training: 0.88 },
  };
}

/** Measured with the shipped model's predecessor, of four million parameters. */
const rateAtFourMillion = 2.5e-3;

/**
 * Peak AdamW learning rate for a LoRA adapter on a model of this size.
 *
 * The optimum falls as 1/width (Yang et al., arXiv:2203.03466, for Adam). Depth grows like width, so parameters grow as
 * width³; hence the cube root. The anchor, 2.5e-3 for four million parameters, was measured. The rule gives 5e-4 at
 * 0.5B and 2e-4 at 7B, within the 2e-4 to 1e-3 of published LoRA recipes.
 */
export function peakLearningRate(parameters: number): number {
  const rate = rateAtFourMillion * Math.cbrt(4e6 / Math.max(parameters, 1));
  return Math.min(1e-2, Math.max(2e-4, rate));
}
