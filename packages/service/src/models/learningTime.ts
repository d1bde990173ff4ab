import type { Recipe, TeacherName } from '@engraft/learning';

/** In tokens per second, but for the step. */
export interface MeasuredSpeeds {
  /** Many sequences through the model at once, as when pairs are scored. */
  readonly reading: number;
  /** Eight answers at a time, as when a teacher asks. */
  readonly writing: number;
  /** One step of training takes so long, with as many rows as the recipe has. */
  readonly stepSeconds: number;
}

interface TeachingTokens {
  readonly input: number;
  readonly output: number;
}

/**
 * Tokens that go in and come out while a passage of 1,000 characters is taught, scored and examined. Those of the rules
 * of English were counted in the usage of a learning job (`quillstone_4` of bench/learning/third.jsonl, 1,043
 * characters, the shipped model); a model that teaches itself is taken to need as many.
 */
const teachingTokens: Readonly<Record<TeacherName, TeachingTokens>> = {
  english: { input: 92_000, output: 4_200 },
  model: { input: 92_000, output: 4_200 },
};

/**
 * About how long 1,000 characters take to learn. Passages of this length are trained `enoughSteps` steps, since they
 * have some twenty facts; what the teacher reads and writes takes the measured speeds. Other work on the machine makes
 * it longer.
 */
export function secondsPerThousandCharacters(
  teacher: TeacherName,
  { training }: Pick<Recipe, 'training'>,
  { reading, writing, stepSeconds }: MeasuredSpeeds,
): number {
  const { input, output } = teachingTokens[teacher];
  return input / reading + output / writing + training.enoughSteps * stepSeconds;
}
