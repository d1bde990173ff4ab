/**
 * The kind of a thing: a nephew is asked for with "Which relative" or "Which family member". The lists of everyday
 * words are in the folder `kinds`.
 */
import { artsAndWritingKinds } from './kinds/artsAndWriting.js';
import { bodyAndClothesKinds } from './kinds/bodyAndClothes.js';
import { foodKinds } from './kinds/food.js';
import { gamesAndLearningKinds } from './kinds/gamesAndLearning.js';
import { homeAndNatureKinds } from './kinds/homeAndNature.js';
import { livingKinds } from './kinds/living.js';
import { moneyAndEventsKinds } from './kinds/moneyAndEvents.js';
import { plantsAndMaterialsKinds } from './kinds/plantsAndMaterials.js';
import { societyAndExpressionKinds } from './kinds/societyAndExpression.js';
import { toolsAndBuildingsKinds } from './kinds/toolsAndBuildings.js';
import { vehiclesAndDevicesKinds } from './kinds/vehiclesAndDevices.js';
import { baseFormOf } from './verbs.js';

/**
 * The kinds of a thing that a noun in lower case names; none of a word that is not known. A member may be of two kinds.
 */
export function kindsOf(noun: string): readonly string[] {
  return kindsOfMembers.get(noun) ?? kindsOfMembers.get(baseFormOf(noun)) ?? [];
}

const lists = [
  livingKinds,
  vehiclesAndDevicesKinds,
  toolsAndBuildingsKinds,
  homeAndNatureKinds,
  foodKinds,
  plantsAndMaterialsKinds,
  bodyAndClothesKinds,
  gamesAndLearningKinds,
  artsAndWritingKinds,
  moneyAndEventsKinds,
  societyAndExpressionKinds,
];

const kindsOfMembers = new Map<string, string[]>();
for (const line of lists.flatMap((list) => list.trim().split('\n'))) {
  const [kinds = [], members = []] = line.split(': ').map((words) => words.toLowerCase().split(', '));
  for (const member of members) {
    kindsOfMembers.set(member, [...new Set([...(kindsOfMembers.get(member) ?? []), ...kinds])]);
  }
}
