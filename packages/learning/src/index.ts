/** Learning as a service uses it. `parts.ts` has the parts for teachers and measurements. */
export * from './types.js';
export { BaseMemory, baseMemoryOf } from './baseMemory.js';
export { expectedWork, type ExpectedWork } from './expectedWork.js';
export type { TokenCounts } from './teachers/model/expectedWork.js';
export { learnPassage } from './learnPassage.js';
export {
  RemoteModelError,
  type KnownRemoteCall,
  type RemoteAnswer,
  type RemoteCallJournal,
  type RemoteMessage,
  type RemoteModel,
  type RemoteOutcome,
  type RemoteRequest,
  type RemoteUsage,
} from './budget/remoteModel.js';
export type { LossPoint } from './lossCurve.js';
export { defaultRecipe, settledRecipe } from './recipe/defaults.js';
export {
  loadPreset,
  presetFile,
  promptsOf,
  recipeOf,
  type Preset,
  type PromptStyle,
  type TeacherName,
} from './recipe/preset.js';
export { instructedPrompts, plainPrompts, type Prompts } from './recipe/prompts.js';
export type { Recipe } from './recipe/recipe.js';
export { joinedTeacher } from './teachers/joinedTeacher.js';
export { areAskedWell } from './teachers/model/askedWell.js';
export type { TeachingAid } from './teachers/model/aid.js';
export { modelTeacher } from './teachers/model/modelTeacher.js';
export { remoteTeacher } from './teachers/remote/remoteTeacher.js';
export type { TaughtPassage, Teacher, TeacherPrompt, TeachingSize } from './teaching/teacher.js';
export { replayOf } from './training/ownReplay.js';
export { lossOfProgress, usageOfProgress } from './training/progress.js';
export { rehearsalSchema } from './outcomes.js';
export { lossOfOutcome } from './trace.js';
export { loadReplay, replayFile } from './training/replay.js';
export { spreadSample } from './random.js';
