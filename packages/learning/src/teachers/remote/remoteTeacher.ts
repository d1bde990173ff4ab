import type { AdapterReference } from '@engraft/engine';
import type { RemoteModel } from '../../budget/remoteModel.js';
import type { Recipe } from '../../recipe/recipe.js';
import type { Teacher } from '../../teaching/teacher.js';
import { modelTeacher } from '../model/modelTeacher.js';
import { proposeRemotely } from './proposing.js';

/**
 * A remote model asks about the passage, and the learning model reads every question back, with `adapter`. What it
 * cannot read with the passage before it, it would not learn either. So nobody believes a teacher that lies, and a
 * model that reads badly is taught little.
 */
export function remoteTeacher(recipe: Recipe, model: RemoteModel, adapter: AdapterReference | null): Teacher {
  return {
    ...modelTeacher(recipe, adapter),
    name: 'remote',
    teach: async (calls, passage, plan, seed) => {
      const facts = await proposeRemotely({ calls, passage, recipe, model, seed }, plan);
      return facts === null ? null : { facts, understood: true };
    },
  };
}
