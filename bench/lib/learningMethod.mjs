// How a checkpoint learns, as the service puts it together; for a trial with other numbers.
import { join } from 'node:path';
import { learningMethod, readLearningFiles } from '../../packages/service/dist/startup/learningMethod.js';
import { root } from './measure.mjs';

/** A checkpoint's own replies, which take minutes to ask for and are always the same. */
const replayFolder = join(root, 'bench/.replay');

/** `trial` has the groups of a recipe: `{ "training": { "rank": 16 } }` changes the rank and nothing else. */
export async function learningMethodOf(engine, modelDir, trial = {}) {
  return learningMethod(
    engine,
    await readLearningFiles(modelDir),
    (recipe) => withTrial(recipe, trial),
    null,
    replayFolder,
  );
}

function withTrial(recipe, trial) {
  const groups = Object.entries(trial).map(([group, changes]) => {
    const unknown = Object.keys(changes).find((name) => recipe[group]?.[name] === undefined);
    if (unknown !== undefined) throw new Error(`--recipe: there is no ${group}.${unknown}`);
    return [group, { ...recipe[group], ...changes }];
  });
  return { ...recipe, ...Object.fromEntries(groups) };
}
