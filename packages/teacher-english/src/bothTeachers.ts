import type { AdapterReference } from '@engraft/engine';
import { areAskedWell, joinedTeacher, modelTeacher, type Recipe, type Teacher } from '@engraft/learning';
import { englishAid } from './englishAid.js';
import { englishTeacher } from './englishTeacher.js';
import { findOnce } from './questions/findOnce.js';

/**
 * The rules of English. Where the model finds what they ask unlikely, it asks too, with `adapter`, and is helped by the
 * rules.
 */
export function bothTeachers(recipe: Recipe, adapter: AdapterReference | null): Teacher {
  const lookUp = findOnce();
  return joinedTeacher(
    englishTeacher(recipe, lookUp),
    modelTeacher(recipe, adapter, englishAid(lookUp)),
    (calls, passage, facts) => areAskedWell({ calls, passage, recipe, adapter }, facts),
  );
}
