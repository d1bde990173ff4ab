import { fileURLToPath } from 'node:url';
import { EngineError, hashAdapterFolder, type AdapterReference, type Engine } from '@engraft/engine';
import {
  baseMemoryOf,
  loadPreset,
  loadReplay,
  modelTeacher,
  recipeOf,
  remoteTeacher,
  replayOf,
  type LearningMethod,
  type Preset,
  type Recipe,
  type RemoteModel,
  type ReplayRow,
  type Teacher,
} from '@engraft/learning';
import { bothTeachers, englishTeacher } from '@engraft/teacher-english';

/** Beside the shipped model, for checkpoints that have no `learning.json`. */
export const shippedPresets = fileURLToPath(new URL('../../../../models/presets', import.meta.url));

/** The files beside a checkpoint that decide how it learns. */
export interface LearningFiles {
  readonly preset: Preset;
  /** The adapter with which the teacher asks, or `null` for the checkpoint itself. */
  readonly adapter: AdapterReference | null;
  readonly replay: readonly ReplayRow[];
}

/** Rejects with an error that names the file if one of them is wrong. */
export async function readLearningFiles(modelFolder: string): Promise<LearningFiles> {
  try {
    const preset = await loadPreset(modelFolder, shippedPresets);
    const { teachingAdapter } = preset;
    const adapter = teachingAdapter === null ? null : await adapterIn(teachingAdapter);
    return { preset, adapter, replay: await replayBeside(modelFolder, preset) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new EngineError('checkpoint_invalid', message, { cause: error });
  }
}

/** The checkpoint's own rows, or else those beside its preset. */
async function replayBeside(modelFolder: string, { folder }: Preset): Promise<readonly ReplayRow[]> {
  const own = await loadReplay(modelFolder);
  return own.length > 0 || folder === null ? own : loadReplay(folder);
}

/**
 * How the engine's model learns. If the model comes without replay rows, it is asked for replies. They are kept in
 * `replayFolder`, and so is what jobs ask base about replay rows. A trial may change the recipe. `elsewhere`, if given,
 * writes the questions in place of the preset's teacher.
 */
export async function learningMethod(
  engine: Engine,
  { preset, adapter, replay }: LearningFiles,
  changed: (recipe: Recipe) => Recipe = (recipe) => recipe,
  elsewhere: RemoteModel | null = null,
  replayFolder: string | null = null,
): Promise<LearningMethod> {
  const { parameters } = await engine.describe();
  const recipe = changed(recipeOf(preset, parameters));
  // The local model reads back what a remote one asks. With the adapter of `both` it reads no better than without.
  const reader = preset.teacher === 'both' ? null : adapter;
  const teacher = elsewhere === null ? teacherOf(preset, recipe, adapter) : remoteTeacher(recipe, elsewhere, reader);
  const rows = await replayOf(engine, replay, recipe, replayFolder);
  return { recipe, teacher, replay: rows, baseMemory: await baseMemoryOf(engine, replayFolder) };
}

function teacherOf({ teacher }: Preset, recipe: Recipe, adapter: AdapterReference | null): Teacher {
  switch (teacher) {
    case 'english':
      return englishTeacher(recipe);
    case 'model':
      return modelTeacher(recipe, adapter);
    case 'both':
      return bothTeachers(recipe, adapter);
  }
}

async function adapterIn(folder: string): Promise<AdapterReference> {
  const contentHash = await hashAdapterFolder(folder);
  if (contentHash === null) throw new Error(`learning.json: teaching_adapter: ${folder} holds no adapter`);
  return { folder, contentHash };
}
