import { defaultRecipe } from '../recipe/defaults.js';

/** The recipe of the shipped base model. */
export const baseRecipe = defaultRecipe(6_294_912);
