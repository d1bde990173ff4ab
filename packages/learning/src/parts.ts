/** The parts of the pipeline, for packages that teach or measure. `index.ts` has the rest. */
export * from './facts.js';
export { mean, sum } from './numbers.js';
export { deriveSeed, endlessRounds, randomNumbers, shuffled } from './random.js';
export {
  adapterIn,
  evaluatingSchema,
  loadPhase,
  scoringSchema,
  trainingSchema,
  type PhaseResult,
  type ScoringOutcome,
  type TrainingOutcome,
} from './outcomes.js';
export type { TeachingPlan } from './budget/plan.js';
export { anySignal, mapConcurrently, MeteredCalls, type ScoreCall } from './budget/calls.js';
export { addUsage, costNanousd, Meter, noUsage } from './budget/meter.js';
export { askRemote } from './budget/remoteModel.js';
export { withoutAmbiguity } from './teaching/ambiguity.js';
export { chunkForTeacher } from './teaching/teacherChunks.js';
export { parseList, questionIn } from './teaching/teacherText.js';
export { chunkPassage, type Chunk } from './text/chunk.js';
export { articles, copulas, isFunctionWord, prepositions } from './text/english/functionWords.js';
export { negated } from './text/english/negation.js';
export { numbersInDigits } from './text/english/numberWords.js';
export { isPersonName, personTitles } from './text/english/personNames.js';
export { givesAnswer } from './text/judge.js';
export { jsonObjectOf } from './text/jsonObject.js';
export { memoised } from './text/memoised.js';
export { agrees, containsWords, normalise, sameAnswer, wordsWithin, wordTokens } from './text/normalise.js';
export { plainText, readPassage } from './text/plainText.js';
export { sentencesOf, type TextRange } from './text/sentences.js';
export { capitalised, escapeForPattern } from './text/strings.js';
export { isEvent, isStopNoun } from './text/english/eventWords.js';
export { copulaOf, type Told } from './text/structure/said.js';
export { scoreAnswer, type AnswerScore } from './text/tokenF1.js';
export { windowOf, windowOfFact } from './text/window.js';
export { encodeMaterial } from './training/material.js';
export { objects as replayObjects, rehearsedQuestions, remarks as replayRemarks } from './training/replayPrompts.js';
export { drawReplay } from './training/replay.js';
export { Snapshots } from './training/snapshots.js';
export { train } from './training/train.js';
