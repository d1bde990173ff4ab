import type { Recipe, TaughtPassage } from '@engraft/learning';
import type { MeteredCalls } from '@engraft/learning/parts';

/** The things that all calls about one passage share. */
export interface Lesson {
  readonly calls: MeteredCalls;
  readonly passage: TaughtPassage;
  readonly recipe: Recipe;
}
