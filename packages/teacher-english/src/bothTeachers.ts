import type { AdapterReference } from '@engraft/engine';
import { joinedTeacher, modelTeacher, type Recipe, type Teacher } from '@engraft/learning';
import { englishAid } from './englishAid.js';
import { englishTeacher } from './englishTeacher.js';
import { findOnce } from './questions/findOnce.js';

/** The rules of English, and a small model that asks with `adapter` and is helped by the rules. */
export function bothTeachers(recipe: Recipe, adapter: AdapterReference | null): Teacher {
  const lookUp = findOnce();
  return joinedTeacher(englishTeacher(recipe, lookUp), modelTeacher(recipe, adapter, englishAid(lookUp)));
}
