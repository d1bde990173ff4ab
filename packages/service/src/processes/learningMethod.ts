import { fileURLToPath } from 'node:url';
import { EngineError, hashAdapterFolder, type AdapterReference, type Engine } from '@engraft/engine';
import {
  loadPreset,
  loadReplay,
  modelTeacher,
  recipeOf,
  replayOf,
  type LearningMethod,
  type Preset,
  type Recipe,
  type ReplayRow,
  type Teacher,
} from '@engraft/learning';
import { englishTeacher } from '@engraft/teacher-english';

/** Beside the shipped model: for checkpoints of others that bring no `learning.json` along. */
export const shippedPresets = fileURLToPath(new URL('../../../../models/presets', import.meta.url));

/** What lies beside a checkpoint and decides how it learns. */
export interface LearningFiles {
  readonly preset: Preset;
  readonly replay: readonly ReplayRow[];
}

/** Rejects, naming the file, when one of them is not as it should be. */
export async function readLearningFiles(model_folder: string): Promise<LearningFiles> {
  return { preset: await loadPreset(model_folder, shippedPresets), replay: await loadReplay(model_folder) };
}

/** How the engine's model learns. Asks it for replies when it brings no rows along. A trial may change the recipe. */
export async function learningMethod(
  engine: Engine,
  { preset, replay }: LearningFiles,
  changed: (recipe: Recipe) => Recipe = (recipe) => recipe,
): Promise<LearningMethod> {
  const { parameters } = await engine.describe();
  const recipe = changed(recipeOf(preset, parameters));
  return { recipe, teacher: await teacherOf(preset, recipe), replay: await replayOf(engine, replay, recipe) };
}

async function teacherOf({ teacher, teachingAdapter }: Preset, recipe: Recipe): Promise<Teacher> {
  switch (teacher) {
    case 'english':
      return englishTeacher(recipe);
    case 'model':
      return modelTeacher(recipe, teachingAdapter === null ? null : await adapterIn(teachingAdapter));
  }
}

async function adapterIn(folder: string): Promise<AdapterReference> {
  const contentHash = await hashAdapterFolder(folder);
  if (contentHash === null) throw new EngineError('adapter_invalid', `${folder} holds no teaching adapter`);
  return { folder, contentHash };
}
