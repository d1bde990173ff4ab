import type { Engine } from '@engraft/engine';
import {
  loadPreset,
  loadReplay,
  recipeOf,
  replayOf,
  type LearningMethod,
  type Preset,
  type Recipe,
  type ReplayRow,
  type Teacher,
} from '@engraft/learning';
import { englishTeacher } from '@engraft/teacher-english';

/** What lies beside a checkpoint and decides how it learns. */
export interface LearningFiles {
  readonly preset: Preset;
  readonly replay: readonly ReplayRow[];
}

/** Rejects, naming the file, when one of them is not as it should be. */
export async function readLearningFiles(model_folder: string): Promise<LearningFiles> {
  return { preset: await loadPreset(model_folder), replay: await loadReplay(model_folder) };
}

/** How the engine's model learns. Asks it for replies when it brings no rows along. A trial may change the recipe. */
export async function learningMethod(
  engine: Engine,
  { preset, replay }: LearningFiles,
  changed: (recipe: Recipe) => Recipe = (recipe) => recipe,
): Promise<LearningMethod> {
  const { parameters } = await engine.describe();
  const recipe = changed(recipeOf(preset, parameters));
  return { recipe, teacher: teacherOf(preset, recipe), replay: await replayOf(engine, replay, recipe) };
}

function teacherOf({ teacher }: Preset, recipe: Recipe): Teacher {
  switch (teacher) {
    case 'english':
      return englishTeacher(recipe);
    case 'model':
      throw new Error('learning.json: teacher: "model" is not available yet; "english" is');
  }
}
