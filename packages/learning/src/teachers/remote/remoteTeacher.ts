import type { AdapterReference } from '@engraft/engine';
import type { RemoteModel } from '../../budget/remoteModel.js';
import type { Recipe } from '../../recipe/recipe.js';
import type { Teacher } from '../../teaching/teacher.js';
import { modelTeacher } from '../model/modelTeacher.js';
import { proposeElsewhere } from './proposing.js';

/**
 * Has a model elsewhere ask about the passage, and the model that learns read every question back, with `adapter`: what
 * it cannot read with the passage before it, it would not learn either. So a teacher that lies is not believed, and
 * where the model that learns reads badly, little is taught.
 */
export function remoteTeacher(recipe: Recipe, model: RemoteModel, adapter: AdapterReference | null): Teacher {
  return {
    ...modelTeacher(recipe, adapter),
    name: 'remote',
    teach: async (calls, passage, plan, seed) => {
      const facts = await proposeElsewhere({ calls, passage, recipe, model, seed }, plan);
      return facts === null ? null : { facts, understood: true };
    },
  };
}
