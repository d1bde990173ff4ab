import type { Recipe, TaughtPassage } from '@engraft/learning';
import type { MeteredCalls } from '@engraft/learning/parts';

/** The things that are the same for all calls about one passage. */
export interface Lesson {
  readonly calls: MeteredCalls;
  readonly passage: TaughtPassage;
  readonly recipe: Recipe;
}
