import { defaultRecipe } from '../recipe/defaults.js';

/** Of the shipped base model. */
export const baseRecipe = defaultRecipe(6_294_912);
