/**
 * Decides how the model of a checkpoint folder learns. `learning.json` beside the model comes first, then a shipped
 * preset that fits the model, then the defaults.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { answeringEither, defaultRecipe, withSentences } from './defaults.js';
import { instructedPrompts, plainPrompts, type Prompts } from './prompts.js';
import type { Recipe, TrainingRecipe } from './recipe.js';

/** A file beside the weights. */
export const presetFile = 'learning.json';

export const teacherNames = ['english', 'model', 'both'] as const;
export type TeacherName = (typeof teacherNames)[number];

export const promptStyleNames = ['plain', 'instructed'] as const;
export type PromptStyle = (typeof promptStyleNames)[number];

const promptStyles: Readonly<Record<PromptStyle, Prompts>> = { plain: plainPrompts, instructed: instructedPrompts };

export interface Preset {
  /** Where it lies, perhaps with replay rows beside it. `null` for the default. */
  readonly folder: string | null;
  readonly teacher: TeacherName;
  /** The folder of the adapter that the teacher is asked with, or `null` for base itself. */
  readonly teachingAdapter: string | null;
  readonly prompts: PromptStyle;
  /** Values that replace those of the default recipe. */
  readonly training: Partial<TrainingRecipe>;
}

/** For a checkpoint that we know nothing about. It teaches itself, in whatever language it reads. */
export const defaultPreset: Preset = {
  folder: null,
  teacher: 'model',
  teachingAdapter: null,
  prompts: 'plain',
  training: {},
};

const whole = z.int().positive();

/** `either` is sentences for a passage that was not asked about well. */
const answerKinds = ['values', 'sentences', 'either'] as const;

const trainingSchema = strict({
  answers_with: z.enum(answerKinds).exactOptional(),
  rank: whole.max(256).exactOptional(),
  alpha: z.number().positive().exactOptional(),
  first_layer: z.int().nonnegative().exactOptional(),
  sentences_first_layer: z.int().nonnegative().exactOptional(),
  questions_per_sentence: z.int().nonnegative().exactOptional(),
  opening_tokens: z.int().nonnegative().exactOptional(),
  peak_rate: z.number().positive().max(0.1).exactOptional(),
  pairs_per_batch: whole.exactOptional(),
  exposures_per_fact: whole.exactOptional(),
  max_exposures_per_fact: whole.exactOptional(),
  enough_steps: whole.exactOptional(),
  max_steps: whole.exactOptional(),
});

/** Fields of `config.json` that tell a model from others. */
const fitsSchema = strict({
  model_type: z.string(),
  hidden_size: whole,
  num_hidden_layers: whole,
  vocab_size: whole,
  max_position_embeddings: whole,
});

const presetSchema = strict({
  fits: fitsSchema.exactOptional(),
  /** Where the numbers come from, for people who read the file. */
  source: z.string().exactOptional(),
  teacher: z.enum(teacherNames),
  teaching_adapter: z
    .string()
    .regex(/^[\w-][\w.-]*$/u, 'must be the name of a folder beside the file')
    .exactOptional(),
  prompts: z.enum(promptStyleNames).exactOptional(),
  training: trainingSchema.exactOptional(),
}).superRefine(({ teacher, teaching_adapter, training }, context) => {
  const isForModels = (isGiven: boolean, path: string[]): void => {
    if (teacher !== 'english' || !isGiven) return;
    context.addIssue({ code: 'custom', path, message: 'is for the teachers "model" and "both" only' });
  };
  isForModels(teaching_adapter !== undefined, ['teaching_adapter']);
  isForModels((training?.questions_per_sentence ?? 0) > 0, ['training', 'questions_per_sentence']);
  if (training?.answers_with === 'either' && teacher !== 'both') {
    const path = ['training', 'answers_with'];
    context.addIssue({ code: 'custom', path, message: '"either" is for the teacher "both" only' });
  }
});

/**
 * @param shippedFolder holds a folder for each preset that comes with the product. Each preset names the models that it
 * fits.
 * @throws an error that names the file, the field and what is allowed, if a `learning.json` is wrong
 */
export async function loadPreset(modelDir: string, shippedFolder: string | null = null): Promise<Preset> {
  const own = await readPreset(modelDir);
  const config: unknown = parseJson((await readIfThere(path.join(modelDir, 'config.json'))) ?? '');
  if (own !== null) {
    checkLayers(path.join(modelDir, presetFile), own.preset.training, config);
    return own.preset;
  }
  const names = shippedFolder === null ? [] : await namesIn(shippedFolder);
  for (const name of names) {
    const shipped = await readPreset(path.join(shippedFolder ?? '', name));
    if (shipped?.fits !== undefined && z.looseObject(literals(shipped.fits)).safeParse(config).success) {
      return shipped.preset;
    }
  }
  return defaultPreset;
}

interface ReadPreset {
  readonly preset: Preset;
  readonly fits: z.infer<typeof fitsSchema> | undefined;
}

/** `null` when the folder has none. */
async function readPreset(folder: string): Promise<ReadPreset | null> {
  const file = path.join(folder, presetFile);
  const text = await readIfThere(file);
  if (text === null) return null;
  const parsed = presetSchema.safeParse(parseJson(text));
  if (!parsed.success) throw new Error(`${file}: ${describe(parsed.error)}`);
  const { fits, teacher, teaching_adapter, prompts = defaultPreset.prompts, training = {} } = parsed.data;
  const teachingAdapter = teaching_adapter === undefined ? null : path.resolve(folder, teaching_adapter);
  return { fits, preset: { folder, teacher, teachingAdapter, prompts, training: trainingOf(training) } };
}

/** Else each job would teach, and fail when it begins to train. */
function checkLayers(file: string, training: Partial<TrainingRecipe>, config: unknown): void {
  const layers = z.looseObject({ num_hidden_layers: whole }).safeParse(config).data?.num_hidden_layers ?? Infinity;
  const given = { first_layer: training.firstLayer, sentences_first_layer: training.sentencesFirstLayer };
  for (const [field, layer = 0] of Object.entries(given)) {
    if (layer < layers) continue;
    throw new Error(
      `${file}: training.${field}: must be from 0 to ${layers - 1}, since the model has ${layers} layers`,
    );
  }
}

function literals(fits: z.infer<typeof fitsSchema>): Record<string, z.ZodLiteral<string | number>> {
  return Object.fromEntries(Object.entries(fits).map(([field, value]) => [field, z.literal(value)]));
}

/** Sorted, so that the order is the same on every machine. Empty if nothing is shipped. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

async function readIfThere(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** The recipe for a model of so many parameters with this preset. */
export function recipeOf(preset: Preset, parameters: number): Recipe {
  const usual = defaultRecipe(parameters);
  const training = { ...usual.training, ...preset.training };
  const { answersWith, questionsPerSentence, sentencesIfAskedPoorly } = training;
  const ofValues = sentencesIfAskedPoorly ? answeringEither(usual) : usual;
  const recipe = answersWith === 'sentences' ? withSentences(usual, questionsPerSentence) : ofValues;
  return { ...recipe, prompts: promptsOf(preset), training: { ...recipe.training, ...preset.training } };
}

export function promptsOf({ prompts }: Pick<Preset, 'prompts'>): Prompts {
  return promptStyles[prompts];
}

/** Leaves out what is not given, which must not replace a default. */
function trainingOf(given: z.infer<typeof trainingSchema>): Partial<TrainingRecipe> {
  const named = {
    answersWith: given.answers_with === 'either' ? 'values' : given.answers_with,
    sentencesIfAskedPoorly: given.answers_with === undefined ? undefined : given.answers_with === 'either',
    rank: given.rank,
    alpha: given.alpha,
    firstLayer: given.first_layer,
    sentencesFirstLayer: given.sentences_first_layer,
    questionsPerSentence: given.questions_per_sentence,
    openingTokens: given.opening_tokens,
    peakRate: given.peak_rate,
    pairsPerBatch: given.pairs_per_batch,
    exposuresPerFact: given.exposures_per_fact,
    maxExposuresPerFact: given.max_exposures_per_fact,
    enoughSteps: given.enough_steps,
    maxSteps: given.max_steps,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

/** Refuses other fields, and names the allowed ones. */
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

/** Damaged JSON becomes `undefined`, which the schema refuses. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
