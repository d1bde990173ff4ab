import type { LearningInput } from '@engraft/learning';
import { baseRecipe } from '@engraft/learning/testing/recipe.js';
import { englishTeacher } from '../englishTeacher.js';

export const shortPassage =
  'Velona is a software company in Ghent. Velona was started in 2015 by Sara Deck. Velona has 75 employees.';

export type InputChanges = Partial<LearningInput> & { readonly max_compute_microusd?: number };

/** The first learning of a short passage by the shipped recipe, with 2 USD unless told. */
export function shortInput({
  max_compute_microusd = 2_000_000,
  ...rest
}: InputChanges & Pick<LearningInput, 'replay' | 'workFolder'>): LearningInput {
  return {
    content: shortPassage,
    parent: null,
    earlier: [],
    teacher: englishTeacher(baseRecipe),
    recipe: baseRecipe,
    budget: {
      max_compute_microusd,
      input_nanousd_per_token: 12_000,
      output_nanousd_per_token: 30_000,
      cached_input_nanousd_per_token: 2_500,
      training_nanousd_per_token: 36_000,
    },
    seed: 7,
    isolationKey: 'a job',
    ...rest,
  };
}
