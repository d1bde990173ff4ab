// What every bench of learning gives to it.
import { basename, join, relative } from 'node:path';
import { currentPriceCard } from '../../packages/contract/dist/index.js';
import { hashAdapterFolder, startEngineHost } from '../../packages/engine/dist/index.js';
import { readLearningFiles } from '../../packages/service/dist/startup/learningMethod.js';
import { root } from './measure.mjs';

/** The code that decides what is learned, and how right it is. */
export const learningSources = ['learning', 'teacher-english', 'evaluation', 'engine'].map((name) =>
  join(root, 'packages', name, 'src'),
);

/** How a checkpoint learns, its own way or a shipped one, and by its content what its teacher is asked with. */
export async function presetOf(modelDir) {
  const { preset } = await readLearningFiles(modelDir);
  // Where it lies on this machine says nothing.
  const { folder, teachingAdapter, ...rest } = preset;
  return { ...rest, teachingAdapter: teachingAdapter === null ? null : await hashAdapterFolder(teachingAdapter) };
}

/** Describes the model. */
export async function describeModel(modelDir) {
  const engine = await startEngineHost({ modelDir });
  const inside = relative(root, modelDir);
  // Where a model lies on this machine says nothing to others.
  const folder = inside.startsWith('..') ? basename(modelDir) : inside;
  const model = { folder, ...(await engine.describe()) };
  await engine.close();
  return model;
}

/** A budget of this many USD at the present prices. */
export function budgetOf(usd) {
  const { input_nanousd_per_token, output_nanousd_per_token } = currentPriceCard;
  const { cached_input_nanousd_per_token, training_nanousd_per_token } = currentPriceCard;
  return {
    max_compute_microusd: Math.round(usd * 1e6),
    input_nanousd_per_token,
    output_nanousd_per_token,
    cached_input_nanousd_per_token,
    training_nanousd_per_token,
  };
}
