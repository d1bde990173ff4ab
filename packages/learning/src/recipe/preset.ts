/**
 * How the model of a checkpoint folder is to learn: what `learning.json` beside it says, and the defaults where it says
 * nothing.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { defaultRecipe } from './defaults.js';
import { plainPrompts, type Prompts } from './prompts.js';
import type { Recipe, TrainingRecipe } from './recipe.js';

export const teacherNames = ['english', 'model'] as const;
export type TeacherName = (typeof teacherNames)[number];

export const promptStyleNames = ['plain'] as const;
export type PromptStyle = (typeof promptStyleNames)[number];

const promptStyles: Readonly<Record<PromptStyle, Prompts>> = { plain: plainPrompts };

export interface Preset {
  readonly teacher: TeacherName;
  /** The folder of an adapter that the teacher is asked with; `null`: base itself. */
  readonly teachingAdapter: string | null;
  readonly prompts: PromptStyle;
  /** What takes the place of the default recipe's. */
  readonly training: Partial<TrainingRecipe>;
}

/** Of a checkpoint without `learning.json`. */
export const defaultPreset: Preset = { teacher: 'english', teachingAdapter: null, prompts: 'plain', training: {} };

const whole = z.int().positive();

const trainingSchema = strict({
  rank: whole.max(256).exactOptional(),
  alpha: z.number().positive().exactOptional(),
  peak_rate: z.number().positive().max(0.1).exactOptional(),
  pairs_per_batch: whole.exactOptional(),
  exposures_per_fact: whole.exactOptional(),
  max_exposures_per_fact: whole.exactOptional(),
  max_steps: whole.exactOptional(),
});

const presetSchema = strict({
  teacher: z.enum(teacherNames),
  teaching_adapter: z
    .string()
    .regex(/^[\w-][\w.-]*$/u, 'must be the name of a folder beside the file')
    .exactOptional(),
  prompts: z.enum(promptStyleNames).exactOptional(),
  training: trainingSchema.exactOptional(),
}).refine(({ teacher, teaching_adapter }) => teacher === 'model' || teaching_adapter === undefined, {
  path: ['teaching_adapter'],
  error: 'is for the teacher "model" only',
});

/** Rejects, naming file, field and what is allowed, when `learning.json` is not as it should be. */
export async function loadPreset(modelDir: string): Promise<Preset> {
  const file = path.join(modelDir, 'learning.json');
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return defaultPreset;
  const parsed = presetSchema.safeParse(parseJson(text));
  if (!parsed.success) throw new Error(`${file}: ${describe(parsed.error)}`);
  const { teacher, teaching_adapter, prompts = defaultPreset.prompts, training = {} } = parsed.data;
  return {
    teacher,
    teachingAdapter: teaching_adapter === undefined ? null : path.resolve(modelDir, teaching_adapter),
    prompts,
    training: trainingOf(training),
  };
}

/** The recipe for a model of so many parameters with this preset. */
export function recipeOf(preset: Preset, parameters: number): Recipe {
  const recipe = defaultRecipe(parameters);
  return { ...recipe, prompts: promptsOf(preset), training: { ...recipe.training, ...preset.training } };
}

export function promptsOf({ prompts }: Pick<Preset, 'prompts'>): Prompts {
  return promptStyles[prompts];
}

/** Only what is given, as what is not must not take the place of a default. */
function trainingOf(given: z.infer<typeof trainingSchema>): Partial<TrainingRecipe> {
  const { peak_rate, pairs_per_batch, exposures_per_fact, max_exposures_per_fact, max_steps, ...sameName } = given;
  return {
    ...sameName,
    ...(peak_rate === undefined ? {} : { peakRate: peak_rate }),
    ...(pairs_per_batch === undefined ? {} : { pairsPerBatch: pairs_per_batch }),
    ...(exposures_per_fact === undefined ? {} : { exposuresPerFact: exposures_per_fact }),
    ...(max_exposures_per_fact === undefined ? {} : { maxExposuresPerFact: max_exposures_per_fact }),
    ...(max_steps === undefined ? {} : { maxSteps: max_steps }),
  };
}

/** Refuses other fields, and says which there are. */
function strict<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const allowed = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has no field "${issue.keys.join('", "')}"; there are ${allowed}`
        : `must be a JSON object with ${allowed}`,
  });
}

/** "training.rank: Too small: expected number to be >0". */
function describe({ issues }: z.ZodError): string {
  return issues
    .map(({ path: field, message }) => [...(field.length > 0 ? [field.join('.')] : []), message].join(': '))
    .join('; ');
}

/** Damaged JSON is no object, which the schema says. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
